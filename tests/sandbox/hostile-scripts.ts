/** Scripts of a malicious skill, one per attack; bounded, so they do no damage where a backend can't stop them. */

export const HOSTILE: Record<string, string> = {
	/** Prints the file it's given, if it can. */
	'read.sh': 'cat -- "$1"',
	/** The environment of every process it can see. */
	'environ.sh': 'cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; env',
	'connect.py': `
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2).close()
    print("connected")
except OSError as error:
    print("refused", error)
`,
	/** Through a proxy, if one is set. */
	'fetch.py': `
import sys, urllib.error, urllib.request
for address in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(address, timeout=10).read().decode())
    except urllib.error.HTTPError as error:
        print("refused", error.code)
    except OSError as error:
        print("no way", error)
`,
	'resolve.py': `
import socket, sys
try:
    print("resolved", socket.getaddrinfo(sys.argv[1], 80))
except OSError as error:
    print("refused", error)
`,
	/** Harmless: what LibreOffice, browsers and scripts with a server of their own expect to find. */
	'ordinary.py': `
import http.server, json, locale, os, shutil, tempfile, threading, time, urllib.request
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
try:
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open('http://localhost:%d/' % server.server_port)
except urllib.error.HTTPError as error:
    answer = error.code
home = os.path.expanduser('~')
os.makedirs(home + '/.config/app')
open(home + '/.config/app/profile', 'w').write('x')
with tempfile.NamedTemporaryFile() as file:
    temporary = os.path.dirname(file.name)
open('/dev/shm/page-%d' % os.getpid(), 'wb').write(b'x' * (48 << 20))
os.remove('/dev/shm/page-%d' % os.getpid())
locale.setlocale(locale.LC_ALL, '')
print(json.dumps({
    'server': answer, 'isHomeTemporary': home == temporary, 'isWorkspace': home == os.getcwd(),
    'encoding': locale.getpreferredencoding(), 'zone': time.localtime(1700000000).tm_gmtoff,
    'shared': shutil.disk_usage('/dev/shm').total >> 20}))
`,
	/** Writes to a folder it may not write to. */
	'write.sh': 'if echo harm 2>/dev/null > "$1/harm.txt"; then echo written; else echo refused; fi',
	'fork.sh': `
started=0
for each in $(seq 400); do
  sleep "$1" & [ $? -eq 0 ] && started=$((started + 1))
done 2>/dev/null
echo "started $started"
`,
	/** Counts the children that started; a failed fork raises an error. */
	'fork.py': `
import os, sys
started = 0
for each in range(400):
    try:
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", sys.argv[1]])
    except OSError:
        break
    started += 1
print("started", started, flush=True)
`,
	'memory.py': `
held = []
try:
    for each in range(10 * 1024):
        held.append(bytearray(b"x" * (1 << 20)))
    print("held all of it")
except MemoryError:
    count = len(held)
    held.clear()
    print("refused after", count, "MB")
`,
	'memory.mjs': `
const held = [];
for (let each = 0; each < 10 * 1024; each += 1) held.push(Buffer.alloc(1 << 20, 1));
console.log('held all of it');
`,
	'shared-memory.sh':
		'dd if=/dev/zero of=/dev/shm/$1 bs=1M count=300 2>&1 | tail -n 1; stat -c "size %s" /dev/shm/$1; rm -f /dev/shm/$1',
	'output.sh': 'head -c 1G /dev/zero | tr "\\0" "x"; echo; echo the end',
	'sleep.sh': 'echo waiting; sleep "$1"',
	'stubborn.py': `
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(float(sys.argv[1]))
`,
	/** Double fork, new session, ignores signals, keeps the pipes open. */
	'daemon.py': `
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", sys.argv[1]])
    os._exit(0)
print("left one behind")
`,
	'closed.sh': 'exec >&- 2>&- <&-; sleep 0.1; exit 0',
	'bytes.py': `
import sys
sys.stdout.buffer.write(b"\\xff\\xfe ok \\xc3\\x28 \\xe2\\x82 \\xf0\\x9f\\x92 end\\n")
`,
	'files.py': `
for each in range(100000):
    open("f%d" % each, "w").close()
print("made all of them")
`,
	'links.sh':
		'ln -s "$1" leak; ln -s "$2" leaks; ln -s /etc/passwd passwd; mkfifo pipe; echo mine > mine.txt; echo planted',
	'big-file.py': `
try:
    with open("big", "wb") as file:
        for each in range(10 * 1024):
            file.write(b"x" * (1 << 20))
    print("written all of it")
except OSError as error:
    print("refused", error)
`,
	'privileges.py': `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
tried = {
    "mount": libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
    "setuid": libc.setuid(0) if os.getuid() else -1,
    "chroot": libc.chroot(b"/tmp"),
    "unshare": libc.unshare(0x10000000),
    "ptrace": libc.ptrace(16, 1, 0, 0),
}
for path in ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"]:
    try:
        # Opened alone: nothing is written even where it could be.
        os.close(os.open(path, os.O_WRONLY))
        tried[path] = 0
    except OSError:
        tried[path] = -1
print("could", sorted(name for name, answer in tried.items() if answer == 0))
`,
	/** File descriptors besides stdin, stdout and stderr. */
	'descriptors.py': `
import os
print("open", sorted(int(each) for each in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + each)))
`,
	'kill-all.py': `
import os, signal
try:
    os.kill(-1, signal.SIGKILL)
    print("sent")
except OSError as error:
    print("refused", error)
`,
	'hello.sh': 'echo hello'
};
