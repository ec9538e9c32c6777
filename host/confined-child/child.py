"""Makes the attempts it is told to, and says what it saw. It runs twice: confined, and unconfined as the control.

One JSON object a line on stdin: {"attempts": [...]}; one line a group on stdout: {"observations": [...]}. The first line of
stdout says who this process is. It judges nothing. An unknown kind, or a fault of its own, is an observation too
("error"), so that a child that could not try is never taken for one that was refused.
"""

import ctypes
import errno
import json
import os
import select
import socket
import struct
import sys
import threading
import time

IPPROTO_UDPLITE = 136  # RFC 3828
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
ANY = {4: "0.0.0.0", 6: "::"}
write_lock = threading.Lock()


def emit(record):
    with write_lock:
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()


def identity():
    """What the kernel says of this process: credentials, capabilities, seccomp, cgroup and open descriptors."""
    with open("/proc/self/status", encoding="utf-8") as status:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
    with open("/proc/self/cgroup", encoding="utf-8") as cgroup:
        path = cgroup.read().strip()
    descriptors = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors[name] = os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue  # the descriptor of the listing itself
    return {
        "pid": os.getpid(),
        "uid": os.getuid(),
        "gid": os.getgid(),
        "groups": os.getgroups(),
        "capabilities": fields.get("CapEff"),
        "bounding": fields.get("CapBnd"),
        "noNewPrivileges": fields.get("NoNewPrivs"),
        "seccomp": fields.get("Seccomp"),
        "cgroup": path,
        "descriptors": descriptors,
    }


class Stopped(Exception):
    """An attempt ended at a stage, with the kernel's own word for it where there is one."""

    def __init__(self, stage, outcome, code=None):
        super().__init__(stage)
        self.stage, self.outcome, self.code = stage, outcome, code


def at(stage, call, *arguments):
    try:
        return call(*arguments)
    except OSError as fault:
        raise Stopped(stage, "failed", fault.errno) from fault


def open_socket(attempt, kind, protocol=0):
    sock = at("socket", socket.socket, FAMILIES[attempt["family"]], kind, protocol)
    if attempt.get("source"):
        at("bind", sock.bind, (attempt["source"], 0))
    sock.setblocking(False)
    return sock


def wait(sock, deadline, for_reading):
    left = max(0.0, deadline - time.monotonic())
    readable, writable, _ = select.select([sock] if for_reading else [], [] if for_reading else [sock], [], left)
    return bool(readable or writable)


def connect(sock, address, deadline):
    code = sock.connect_ex(address)
    if code == errno.EINPROGRESS:
        if not wait(sock, deadline, for_reading=False):
            raise Stopped("connect", "silent")
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise Stopped("connect", "failed", code)


def receive(sock, deadline, enough):
    data = b""
    while not enough(data) and len(data) < 65536:
        if not wait(sock, deadline, for_reading=True):
            raise Stopped("receive", "silent")
        chunk = at("receive", sock.recv, 65536)
        if not chunk:
            break
        data += chunk
    return data


def echo(sock, nonce, deadline):
    """The far side has to give the nonce back: a handshake alone does not show who answered."""
    line = (nonce + "\n").encode()
    at("send", sock.send, line)
    if line not in receive(sock, deadline, lambda data: line in data):
        raise Stopped("receive", "closed")


def try_tcp(attempt, deadline):
    with open_socket(attempt, socket.SOCK_STREAM) as sock:
        connect(sock, (attempt["address"], attempt["port"]), deadline)
        echo(sock, attempt["nonce"], deadline)
    return {}


def send_datagram(sock, attempt, payload, deadline):
    """UDP connect() alone sends no packet, so a packet is really sent; an answer is waited for where one is due."""
    at("send", sock.sendto, payload, (attempt["address"], attempt.get("port", 0)))
    if not attempt.get("answered"):
        return {"answered": False}
    if not wait(sock, deadline, for_reading=True):
        raise Stopped("receive", "silent")
    answer = at("receive", sock.recv, 65536)
    return {"answered": attempt["nonce"].encode() in answer}


def try_udp(attempt, deadline):
    with open_socket(attempt, socket.SOCK_DGRAM) as sock:
        return send_datagram(sock, attempt, attempt["nonce"].encode(), deadline)


def try_udplite(attempt, deadline):
    with open_socket(attempt, socket.SOCK_DGRAM, IPPROTO_UDPLITE) as sock:
        return send_datagram(sock, attempt, attempt["nonce"].encode(), deadline)


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def try_icmp(attempt, deadline):
    """The unprivileged kind of ICMP socket first (net.ipv4.ping_group_range), then a raw one."""
    protocol, request = (socket.IPPROTO_ICMP, 8) if attempt["family"] == 4 else (socket.IPPROTO_ICMPV6, 128)
    payload = attempt["nonce"].encode().ljust(32, b"\0")
    message = struct.pack("!BBHHH", request, 0, 0, 1, 1) + payload
    message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    try:
        sock, kind = open_socket(attempt, socket.SOCK_DGRAM, protocol), "datagram"
    except Stopped:
        sock, kind = open_socket(attempt, socket.SOCK_RAW, protocol), "raw"
    with sock:
        return dict(send_datagram(sock, attempt, message, deadline), socket=kind)


def try_raw(attempt, deadline):
    with open_socket(attempt, socket.SOCK_RAW, attempt["protocol"]) as sock:
        return send_datagram(sock, attempt, attempt["nonce"].encode(), deadline)


def parse_answer(data):
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if len(words) < 2 or not words[1].isdigit():
        raise Stopped("receive", "closed" if not data else "not-http")
    headers = dict((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    return {
        "status": int(words[1]),
        "reason": headers.get("x-watertight-reason"),
        "body": body.decode("utf-8", "replace")[:2048],
    }


def authority(attempt):
    return "{0}:{1}".format(attempt["name"], attempt["namePort"])


def try_proxy_http(attempt, deadline):
    with open_socket(attempt, socket.SOCK_STREAM) as sock:
        connect(sock, (attempt["address"], attempt["port"]), deadline)
        request = "GET http://{0}/{1} HTTP/1.1\r\nHost: {0}\r\nConnection: close\r\n\r\n"
        at("send", sock.send, request.format(authority(attempt), attempt["nonce"]).encode())
        answer = parse_answer(receive(sock, deadline, lambda data: False))
    return dict(answer, echoed=attempt["nonce"] in answer["body"])


def try_proxy_connect(attempt, deadline):
    with open_socket(attempt, socket.SOCK_STREAM) as sock:
        connect(sock, (attempt["address"], attempt["port"]), deadline)
        request = "CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n".format(authority(attempt))
        at("send", sock.send, request.encode())
        answer = parse_answer(receive(sock, deadline, lambda data: b"\r\n\r\n" in data))
        if answer["status"] == 200:
            echo(sock, attempt["nonce"], deadline)
    return dict(answer, echoed=answer["status"] == 200)


def try_listen(attempt, deadline):
    accepted = 0
    with open_socket(attempt, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if attempt["family"] == 6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        at("bind", sock.bind, (ANY[attempt["family"]], attempt["port"]))
        at("listen", sock.listen, 16)
        emit({"listening": attempt["id"], "port": sock.getsockname()[1]})
        while accepted < attempt.get("enough", sys.maxsize) and wait(sock, deadline, for_reading=True):
            peer, _ = sock.accept()
            with peer:
                peer.settimeout(max(0.01, deadline - time.monotonic()))
                peer.sendall(peer.recv(256))
            accepted += 1
    return {"accepted": accepted}


def system_call(number, *arguments):
    """A system call by its number, since Python has no function for these. -1 comes back with errno set."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call %d" % number)
    return result


def in_a_child(action):
    """Runs what would change this very process in a process of its own."""
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            action()
        except OSError as fault:
            code = min(fault.errno or 255, 255)
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code if code > 0 else errno.EPERM, "in a child")


def unshare(flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def io_uring():
    parameters = ctypes.create_string_buffer(120)
    os.close(system_call(425, ctypes.c_uint(1), parameters))  # io_uring_setup(2): one number on every architecture


def reach(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(path)


def write_to(folder):
    path = "%s/.watertight-%d" % (folder, os.getpid())
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def see(path):
    """Whether there is anything to be seen below a folder that the host has filled."""
    if not os.listdir(path):
        raise OSError(errno.ENOENT, path)


CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # include/uapi/linux/sched.h

# What the sandbox shuts (host/launcher/sandbox.ts), each tried for its effect. Most are open to an unconfined root.
DOORS = {
    "netlink-socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(),
    "packet-socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close(),
    "vsock-socket": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close(),
    "raw-socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP).close(),
    "user-namespace": lambda: in_a_child(lambda: unshare(CLONE_NEWUSER)),
    "network-namespace": lambda: in_a_child(lambda: unshare(CLONE_NEWNET)),
    "io-uring": io_uring,
    "system-bus": lambda: reach("/run/dbus/system_bus_socket"),
    "systemd-private": lambda: reach("/run/systemd/private"),
    "journal-socket": lambda: reach("/run/systemd/journal/stdout"),
    "other-processes": lambda: os.stat("/proc/1/exe" if os.getuid() == 0 else "/proc/1"),
    "homes": lambda: see("/home"),
    "host-run": lambda: os.stat("/run/systemd/system"),
    "write-etc": lambda: write_to("/etc"),
    "write-var": lambda: write_to("/var/lib"),
    "cgroup-files": lambda: os.close(os.open("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY)),
    "sysctl": lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)),
    "kernel-log": lambda: os.close(os.open("/dev/kmsg", os.O_RDONLY)),
}


def try_door(attempt, deadline):
    if attempt.get("path"):
        at(attempt["door"], os.stat, attempt["path"])
    else:
        at(attempt["door"], DOORS[attempt["door"]])
    return {}


KINDS = {
    "door": try_door,
    "tcp": try_tcp,
    "udp": try_udp,
    "udplite": try_udplite,
    "icmp": try_icmp,
    "raw": try_raw,
    "proxy-http": try_proxy_http,
    "proxy-connect": try_proxy_connect,
    "listen": try_listen,
}


def observe(attempt):
    started = time.monotonic()
    record = {"id": attempt["id"], "stage": "done", "outcome": "completed", "errno": None}
    try:
        record["detail"] = KINDS[attempt["kind"]](attempt, started + attempt["deadline"] / 1000.0)
    except Stopped as stopped:
        code = errno.errorcode.get(stopped.code, str(stopped.code)) if stopped.code else None
        record.update(stage=stopped.stage, outcome=stopped.outcome, errno=code, detail={})
    except Exception as fault:  # a fault of this program is an observation, not a refusal
        record.update(stage="program", outcome="error", detail={"fault": repr(fault)})
    record["milliseconds"] = round((time.monotonic() - started) * 1000, 1)
    return record


def run_group(attempts):
    observations = [None] * len(attempts)

    def run(index, attempt):
        observations[index] = observe(attempt)

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(attempts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return observations


def main():
    emit({"identity": identity()})
    for line in sys.stdin:
        emit({"observations": run_group(json.loads(line)["attempts"])})


main()
