"""The far side of the verifier's attempts: runs in a network namespace of its own, answers, and counts every arrival.

A packet socket sees whatever arrives, whatever its protocol, before any listener does: "0 arrivals" means that no packet
came, not that nobody accepted one. Commands, a JSON object a line on stdin, each answered by one line on stdout:
{"report": true} gives the arrivals so far; {"connect": [...]} dials in to the host. It ends when stdin does, and its
network namespace, with both ends of the veth pair, goes with it (network_namespaces(7)).
"""

import json
import os
import socket
import struct
import sys
import threading
import time

ETH_P_ALL = 3
ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86DD
PACKET_OUTGOING = 4
PROTOCOLS = {1: "icmp", 58: "icmp", 6: "tcp", 17: "udp", 136: "udplite"}
PORTED = {6, 17, 136}
SYN, ACK = 0x02, 0x10
lock = threading.Lock()
arrivals = []
echoes = []


def emit(record):
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def dissect(kind, packet):
    """Protocol, destination and port of an IPv4 or IPv6 packet; None where it is not one of the host's own attempts."""
    if kind == ETH_P_IP and len(packet) >= 20:
        size, protocol = (packet[0] & 15) * 4, packet[9]
        destination = socket.inet_ntop(socket.AF_INET, packet[16:20])
    elif kind == ETH_P_IPV6 and len(packet) >= 40:
        size, protocol = 40, packet[6]
        destination = socket.inet_ntop(socket.AF_INET6, packet[24:40])
    else:
        return None
    rest = packet[size:]
    if protocol in PORTED and len(rest) < 4:
        return None
    port = struct.unpack("!H", rest[2:4])[0] if protocol in PORTED else 0
    if protocol == 6 and (len(rest) < 14 or rest[13] & (SYN | ACK) != SYN):
        return None  # only the first packet of a connection is an arrival
    if protocol == 58 and rest[:1] != b"\x80":
        return None  # neighbour discovery and the like: the kernel's own
    if protocol == 1 and rest[:1] != b"\x08":
        return None
    return {"protocol": PROTOCOLS.get(protocol, str(protocol)), "address": destination, "port": port, "payload": rest}


def sniff(sock):
    while True:
        packet, (_, kind, direction, _, _) = sock.recvfrom(65536)
        if direction == PACKET_OUTGOING:
            continue
        arrival = dissect(kind, packet)
        if arrival is None:
            continue
        arrival["payload"] = arrival["payload"][-64:].decode("latin-1")
        with lock:
            arrivals.append(arrival)


def serve_tcp(sock):
    while True:
        peer, _ = sock.accept()
        threading.Thread(target=answer, args=(peer,), daemon=True).start()


def answer(peer):
    with peer:
        peer.settimeout(2)
        try:
            line = peer.recv(256)
            peer.sendall(line)
        except OSError:
            return  # the other side gave up: its own observation says so
    with lock:
        echoes.append(line.decode("latin-1").strip())


def serve_udp(sock):
    while True:
        data, peer = sock.recvfrom(2048)
        sock.sendto(data, peer)


def listen(family, kind, address, port):
    sock = socket.socket(family, kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    if kind == socket.SOCK_STREAM:
        sock.listen(256)
    target = serve_tcp if kind == socket.SOCK_STREAM else serve_udp
    threading.Thread(target=target, args=(sock,), daemon=True).start()


def dial(attempt):
    """Tries to open a connection to the host, as an outside peer would."""
    family = socket.AF_INET if attempt["family"] == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(attempt["deadline"] / 1000.0)
        try:
            sock.connect((attempt["address"], attempt["port"]))
            sock.sendall(attempt["nonce"].encode())
            outcome = "completed" if sock.recv(256) == attempt["nonce"].encode() else "closed"
        except socket.timeout:
            outcome = "silent"
        except ConnectionError as fault:
            outcome = type(fault).__name__
        except OSError as fault:
            outcome = str(fault.errno)
    return {"id": attempt["id"], "outcome": outcome}


def settle(expected, deadline):
    """A packet socket hands packets over a moment after they came: wait until it has been quiet."""
    seen, quiet_since = -1, time.monotonic()
    while time.monotonic() < deadline:
        with lock:
            now = len(arrivals)
        if now != seen:
            seen, quiet_since = now, time.monotonic()
        elif time.monotonic() - quiet_since > 0.008 and now >= expected:
            return
        time.sleep(0.001)


def main():
    emit({"pid": os.getpid()})  # by which the verifier moves one end of the veth pair in here
    setup = json.loads(sys.stdin.readline())
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    sniffer.bind((setup["interface"], 0))
    threading.Thread(target=sniff, args=(sniffer,), daemon=True).start()
    for family, any_address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        for port in setup["tcp"]:
            if family == socket.AF_INET6:
                sock = socket.create_server((any_address, port), family=family, backlog=256)
                threading.Thread(target=serve_tcp, args=(sock,), daemon=True).start()
            else:
                listen(family, socket.SOCK_STREAM, any_address, port)
        for port in setup["udp"]:
            if family == socket.AF_INET6:
                sock = socket.socket(family, socket.SOCK_DGRAM)
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                sock.bind((any_address, port))
                threading.Thread(target=serve_udp, args=(sock,), daemon=True).start()
            else:
                listen(family, socket.SOCK_DGRAM, any_address, port)
    emit({"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        if "connect" in command:
            emit({"dialled": [dial(attempt) for attempt in command["connect"]]})
        else:
            settle(command.get("expected", 0), time.monotonic() + 0.5)
            with lock:
                emit({"arrivals": list(arrivals), "echoes": list(echoes)})


main()
