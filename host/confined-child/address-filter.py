"""Shows what a slice's address filter does where no rule of nft is in reach: in a network namespace of this process's own.

IPAddressDeny= is a program on the cgroup (cgroup_skb, BPF), so it goes where the process goes; nft's rules stay in the
namespace that they were loaded in. Run as root, once in the tenant's slice and once outside it as the control. It sends a
datagram over loopback to an address that is denied and to the one that is allowed, and prints one JSON line.
"""

import ctypes
import errno
import fcntl
import json
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000  # include/uapi/linux/sched.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)


def enter_own_network():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def send(address):
    """What comes of a datagram to an address of this namespace's own loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near:
        far.bind((address, 0))
        far.settimeout(0.3)
        near.bind((address, 0))
        try:
            near.sendto(b"x", far.getsockname())
            far.recv(16)
        except socket.timeout:
            return "silent"
        except OSError as fault:
            return errno.errorcode.get(fault.errno, str(fault.errno))
    return "arrived"


def main():
    with open("/proc/self/cgroup", encoding="utf-8") as cgroup:
        path = next((line.strip() for line in cgroup if line.startswith("0::")), "no cgroup v2")
    enter_own_network()
    denied, allowed = sys.argv[1], sys.argv[2]
    print(json.dumps({"cgroup": path, "denied": send(denied), "allowed": send(allowed)}))


main()
