//! Escape attempts. The refusals are shown side by side, per backend.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use spelunk_sandbox::{CellEnd, InterpreterError};

use crate::scene::{Backend, Session, setup};

/// Attempts on files, network, processes and the interpreter itself. `FILE` is a file of the host in the directory
/// `DIR`.
const ATTEMPTS: &[&str] = &[
    "open('/etc/passwd').read()",
    "open('/proc/self/environ').read()",
    "open('/proc/self/mem', 'rb').read(1)",
    "import os\nopen('/proc/PARENT/environ').read()",
    "import os\nos.listdir('/')",
    "import os\nos.listdir('/proc/self/fd')",
    "import pathlib\npathlib.Path('/etc/passwd').read_text()",
    "import os\nos.open('/etc/passwd', os.O_RDONLY)",
    "import os\nos.open('FILE', os.O_WRONLY)",
    "import os\nos.truncate('FILE', 0)",
    "import os\nos.remove('FILE')",
    "import os\nos.rename('FILE', 'DIR/mine')",
    "import os\nos.chmod('FILE', 0)",
    "import os\nos.utime('FILE', (0, 0))",
    "import os\nos.symlink('/etc/passwd', 'DIR/mine')",
    "import os\nos.mkdir('DIR/mine')",
    "import shutil\nshutil.rmtree('DIR')",
    "import glob\nglob.glob('/etc/*')",
    "import socket\nsocket.socket()",
    "import socket\nsocket.socketpair()",
    "import socket\nsocket.create_connection(('127.0.0.1', 80))",
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1/')",
    "import os\nos.environ['PATH']",
    "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'id'])",
    "import os\nos.system('id')",
    "import os\nos.popen('id').read()",
    "import os\nos.fork()",
    "import os\nos.execv('/bin/sh', ['sh'])",
    "import os\nos.posix_spawn('/bin/sh', ['sh'], {})",
    "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "import os\nos.kill(PARENT, 9)",
    "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "import ctypes",
    "import sys\nsys.meta_path.clear()\nimport ctypes",
    "().__class__.__mro__[-1].__subclasses__()[0].__name__",
    "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('id')",
    "ask.__globals__['os'].system('id')",
    "__import__('os').system('id')",
    "eval(\"__import__('os').getcwd()\")",
    "exec('import os\\nos.fork()')",
    "globals()['__builtins__']",
    "import gc\nlen(gc.get_objects()) > 0",
    "import sys\nsys._getframe(2).f_code.co_name",
    "type(context)('Text', 2)",
    "context.__class__ = int",
    "context.__reduce__()",
    "import signal\nsignal.raise_signal(9)",
    "import mmap\nmmap.mmap(-1, 1 << 40)",
];

fn attempt_all(backend: Backend, expected: &Expect) {
    let Some(sandbox) = backend.sandbox() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("precious.txt");
    #[expect(clippy::disallowed_methods, reason = "the file that must survive")]
    std::fs::write(&file, "precious").unwrap();
    let path = file.to_str().unwrap().to_owned();
    let place = directory.path().to_str().unwrap().to_owned();
    let parent = std::process::id().to_string();
    let mut shown = String::new();
    for attempt in ATTEMPTS {
        let mut session = Session::open(&sandbox, &setup());
        let code = attempt.replace("FILE", &path).replace("DIR", &place).replace("PARENT", &parent);
        let end = session.run_to_end(&code).1;
        let refusal = match end {
            Ok(CellEnd::Done { output }) => {
                format!("gave {}", output.render().trim_end().replace('\n', "\\n"))
            }
            Ok(CellEnd::Finished { .. }) => "finished".into(),
            Ok(CellEnd::Raised { raised, .. }) => format!("{}: {}", raised.kind, raised.message),
            Err(error) => format!("broke: {error}"),
        };
        let code =
            attempt.lines().filter(|line| !line.starts_with("import os")).collect::<Vec<_>>().join("; ");
        writeln!(
            shown,
            "{code}\n    {}",
            refusal
                .replace(&path, "FILE")
                .replace(&place, "DIR")
                .replace(&format!("/proc/{parent}/"), "/proc/PARENT/")
        )
        .unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "the file that must survive")]
    let survived = std::fs::read_to_string(&file).unwrap();
    assert_eq!(survived, "precious");
    expected.assert_eq(&shown);
}

#[test]
fn monty_has_no_way_out() {
    attempt_all(
        Backend::Worker,
        &expect![[r#"
            open('/etc/passwd').read()
                FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd'
            open('/proc/self/environ').read()
                FileNotFoundError: [Errno 2] No such file or directory: '/proc/self/environ'
            open('/proc/self/mem', 'rb').read(1)
                FileNotFoundError: [Errno 2] No such file or directory: '/proc/self/mem'
            open('/proc/PARENT/environ').read()
                FileNotFoundError: [Errno 2] No such file or directory: '/proc/PARENT/environ'
            os.listdir('/')
                gave ['notes.txt']
            os.listdir('/proc/self/fd')
                PermissionError: `Path.iterdir` is not available in this sandbox
            import pathlib; pathlib.Path('/etc/passwd').read_text()
                FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd'
            os.open('/etc/passwd', os.O_RDONLY)
                AttributeError: module 'os' has no attribute 'O_RDONLY'
            os.open('FILE', os.O_WRONLY)
                AttributeError: module 'os' has no attribute 'O_WRONLY'
            os.truncate('FILE', 0)
                AttributeError: module 'os' has no attribute 'truncate'
            os.remove('FILE')
                FileNotFoundError: [Errno 2] No such file or directory: 'FILE'
            os.rename('FILE', 'DIR/mine')
                PermissionError: `Path.rename` is not available in this sandbox
            os.chmod('FILE', 0)
                AttributeError: module 'os' has no attribute 'chmod'
            os.utime('FILE', (0, 0))
                AttributeError: module 'os' has no attribute 'utime'
            os.symlink('/etc/passwd', 'DIR/mine')
                AttributeError: module 'os' has no attribute 'symlink'
            os.mkdir('DIR/mine')
                gave 
            import shutil; shutil.rmtree('DIR')
                ModuleNotFoundError: No module named 'shutil'
            import glob; glob.glob('/etc/*')
                ModuleNotFoundError: No module named 'glob'
            import socket; socket.socket()
                ModuleNotFoundError: No module named 'socket'
            import socket; socket.socketpair()
                ModuleNotFoundError: No module named 'socket'
            import socket; socket.create_connection(('127.0.0.1', 80))
                ModuleNotFoundError: No module named 'socket'
            import urllib.request; urllib.request.urlopen('http://127.0.0.1/')
                ModuleNotFoundError: No module named 'urllib'
            os.environ['PATH']
                KeyError: 'PATH'
            import subprocess; subprocess.run(['/bin/sh', '-c', 'id'])
                ModuleNotFoundError: No module named 'subprocess'
            os.system('id')
                AttributeError: module 'os' has no attribute 'system'
            os.popen('id').read()
                AttributeError: module 'os' has no attribute 'popen'
            os.fork()
                AttributeError: module 'os' has no attribute 'fork'
            os.execv('/bin/sh', ['sh'])
                AttributeError: module 'os' has no attribute 'execv'
            os.posix_spawn('/bin/sh', ['sh'], {})
                AttributeError: module 'os' has no attribute 'posix_spawn'
            import multiprocessing; multiprocessing.Process(target=print).start()
                ModuleNotFoundError: No module named 'multiprocessing'
            os.kill(PARENT, 9)
                AttributeError: module 'os' has no attribute 'kill'
            import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
                ModuleNotFoundError: No module named 'resource'
            import ctypes
                ModuleNotFoundError: No module named 'ctypes'
            import sys; sys.meta_path.clear(); import ctypes
                AttributeError: 'Module' object has no attribute 'meta_path'
            ().__class__.__mro__[-1].__subclasses__()[0].__name__
                AttributeError: type object 'object' has no attribute '__subclasses__'
            [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('id')
                AttributeError: type object 'tuple' has no attribute '__base__'
            ask.__globals__['os'].system('id')
                AttributeError: 'function' object has no attribute '__globals__'
            __import__('os').system('id')
                AttributeError: module 'os' has no attribute 'system'
            eval("__import__('os').getcwd()")
                gave '/'
            exec('import os\nos.fork()')
                AttributeError: module 'os' has no attribute 'fork'
            globals()['__builtins__']
                KeyError: '__builtins__'
            import gc; len(gc.get_objects()) > 0
                AttributeError: 'Module' object has no attribute 'get_objects'
            import sys; sys._getframe(2).f_code.co_name
                AttributeError: 'Module' object has no attribute '_getframe'
            type(context)('Text', 2)
                TypeError: cannot create instances of host objects
            context.__class__ = int
                gave 
            context.__reduce__()
                AttributeError: 'Text' object has no attribute '__reduce__'
            import signal; signal.raise_signal(9)
                ModuleNotFoundError: No module named 'signal'
            import mmap; mmap.mmap(-1, 1 << 40)
                ModuleNotFoundError: No module named 'mmap'
        "#]],
    );
}

#[test]
fn cpython_has_no_way_out() {
    attempt_all(
        Backend::Cpython,
        &expect![[r#"
        open('/etc/passwd').read()
            PermissionError: [Errno 13] Permission denied: '/etc/passwd'
        open('/proc/self/environ').read()
            PermissionError: [Errno 13] Permission denied: '/proc/self/environ'
        open('/proc/self/mem', 'rb').read(1)
            PermissionError: [Errno 13] Permission denied: '/proc/self/mem'
        open('/proc/PARENT/environ').read()
            PermissionError: [Errno 13] Permission denied: '/proc/PARENT/environ'
        os.listdir('/')
            PermissionError: [Errno 13] Permission denied: '/'
        os.listdir('/proc/self/fd')
            PermissionError: [Errno 13] Permission denied: '/proc/self/fd'
        import pathlib; pathlib.Path('/etc/passwd').read_text()
            PermissionError: [Errno 13] Permission denied: '/etc/passwd'
        os.open('/etc/passwd', os.O_RDONLY)
            PermissionError: [Errno 13] Permission denied: '/etc/passwd'
        os.open('FILE', os.O_WRONLY)
            PermissionError: [Errno 13] Permission denied: 'FILE'
        os.truncate('FILE', 0)
            PermissionError: [Errno 1] Operation not permitted: 'FILE'
        os.remove('FILE')
            PermissionError: [Errno 1] Operation not permitted: 'FILE'
        os.rename('FILE', 'DIR/mine')
            PermissionError: [Errno 1] Operation not permitted: 'FILE' -> 'DIR/mine'
        os.chmod('FILE', 0)
            PermissionError: [Errno 1] Operation not permitted: 'FILE'
        os.utime('FILE', (0, 0))
            PermissionError: [Errno 1] Operation not permitted
        os.symlink('/etc/passwd', 'DIR/mine')
            PermissionError: [Errno 1] Operation not permitted: '/etc/passwd' -> 'DIR/mine'
        os.mkdir('DIR/mine')
            PermissionError: [Errno 1] Operation not permitted: 'DIR/mine'
        import shutil; shutil.rmtree('DIR')
            PermissionError: [Errno 13] Permission denied: 'DIR'
        import glob; glob.glob('/etc/*')
            gave []
        import socket; socket.socket()
            PermissionError: [Errno 1] Operation not permitted
        import socket; socket.socketpair()
            PermissionError: [Errno 1] Operation not permitted
        import socket; socket.create_connection(('127.0.0.1', 80))
            PermissionError: [Errno 1] Operation not permitted
        import urllib.request; urllib.request.urlopen('http://127.0.0.1/')
            URLError: <urlopen error [Errno 1] Operation not permitted>
        os.environ['PATH']
            KeyError: 'PATH'
        import subprocess; subprocess.run(['/bin/sh', '-c', 'id'])
            PermissionError: [Errno 1] Operation not permitted
        os.system('id')
            gave 32512
        os.popen('id').read()
            PermissionError: [Errno 1] Operation not permitted
        os.fork()
            PermissionError: [Errno 1] Operation not permitted
        os.execv('/bin/sh', ['sh'])
            PermissionError: [Errno 1] Operation not permitted
        os.posix_spawn('/bin/sh', ['sh'], {})
            PermissionError: [Errno 1] Operation not permitted: '/bin/sh'
        import multiprocessing; multiprocessing.Process(target=print).start()
            PermissionError: [Errno 1] Operation not permitted
        os.kill(PARENT, 9)
            PermissionError: [Errno 1] Operation not permitted
        import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            ValueError: not allowed to raise maximum limit
        import ctypes
            ModuleNotFoundError: `ctypes` is not available in this sandbox
        import sys; sys.meta_path.clear(); import ctypes
            ModuleNotFoundError: No module named 'ctypes'
        ().__class__.__mro__[-1].__subclasses__()[0].__name__
            gave 'type'
        [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('id')
            gave 32512
        ask.__globals__['os'].system('id')
            gave 32512
        __import__('os').system('id')
            gave 32512
        eval("__import__('os').getcwd()")
            gave '/'
        exec('import os\nos.fork()')
            PermissionError: [Errno 1] Operation not permitted
        globals()['__builtins__']
            gave <module 'builtins' (built-in)>
        import gc; len(gc.get_objects()) > 0
            gave True
        import sys; sys._getframe(2).f_code.co_name
            gave '<lambda>'
        type(context)('Text', 2)
            TypeError: Text() takes no arguments
        context.__class__ = int
            AttributeError: 'Text' object attribute '__class__' is read-only
        context.__reduce__()
            TypeError: cannot pickle 'str' object
        import signal; signal.raise_signal(9)
            PermissionError: [Errno 1] Operation not permitted
        import mmap; mmap.mmap(-1, 1 << 40)
            OSError: [Errno 12] Cannot allocate memory
    "#]],
    );
}

/// Native calls by code that got hold of `ctypes` in spite of us: the kernel itself refuses them.
const NATIVE: &str = r"
import sys
del sys.meta_path[0]
sys.path.append('/')
import os, ctypes
c = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    print(name, c.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args]), os.strerror(ctypes.get_errno()))
X32 = 0x40000000
call('socket', 41, 2, 1, 0)
call('socket by the other table', 41 | X32, 2, 1, 0)
call('execve', 59, b'/bin/true', None, None)
call('execveat', 322, 3, b'/bin/true', None, None, 0)
call('execveat of the descriptor', 322, 200, b'', None, None, 0x1000)
call('fork', 57)
call('clone', 56, 17, 0, 0, 0, 0)
call('clone3', 435, 0, 0)
call('ptrace', 101, 16, PARENT, 0, 0)
call('process_vm_readv', 310, PARENT, 0, 0, 0, 0, 0)
call('kill', 62, PARENT, 9)
call('unshare', 272, 0x10000000)
call('mount', 165, 0, 0, 0, 0, 0)
call('io_uring_setup', 425, 1, 0)
call('prlimit64', 302, 0, 9, b'\xff' * 16, 0)
call('open', 2, b'/etc/passwd', 0)
call('chmod', 90, b'FILE', 0)
call('fchmodat2', 452, -100, b'FILE', 0, 0)
call('setxattrat', 463, -100, b'FILE', 0, b'user.a', 0, 0)
call('file_setattr', 469, -100, b'FILE', b'\0' * 64, 24, 0)
call('open_tree_attr', 467, -100, b'FILE', 1, 0, 0)
call('clone with a network of its own', 56, 0x40010f00, 0, 0, 0, 0)
call('ioctl that makes a file immutable', 16, os.open(os.__file__, 0), 0x40086602, b'\0' * 8)
call('fcntl that has signals sent to the host', 72, 0, 8, PARENT)
call('prctl that outlives the host', 157, 1, 0, 0, 0, 0)
call('a number of tomorrow', 600)
call('write by the other table', 1 | X32, 1, b'hi', 2)
";

#[cfg(target_arch = "x86_64")]
#[test]
fn native_code_in_cpython_has_no_way_out() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    let code = NATIVE.replace("PARENT", &std::process::id().to_string());
    let code = code.replace("FILE", file.path().to_str().unwrap());
    let shown = Session::open(&sandbox, &setup()).run(&code);
    expect![[r#"
        socket -1 Operation not permitted
        socket by the other table -1 Function not implemented
        execve -1 Operation not permitted
        execveat -1 Operation not permitted
        execveat of the descriptor -1 Bad file descriptor
        fork -1 Operation not permitted
        clone -1 Operation not permitted
        clone3 -1 Function not implemented
        ptrace -1 Operation not permitted
        process_vm_readv -1 Operation not permitted
        kill -1 Operation not permitted
        unshare -1 Operation not permitted
        mount -1 Operation not permitted
        io_uring_setup -1 Function not implemented
        prlimit64 -1 Operation not permitted
        open -1 Permission denied
        chmod -1 Operation not permitted
        fchmodat2 -1 Function not implemented
        setxattrat -1 Function not implemented
        file_setattr -1 Function not implemented
        open_tree_attr -1 Function not implemented
        clone with a network of its own -1 Operation not permitted
        ioctl that makes a file immutable -1 Operation not permitted
        fcntl that has signals sent to the host -1 Operation not permitted
        prctl that outlives the host -1 Operation not permitted
        a number of tomorrow -1 Function not implemented
        write by the other table -1 Function not implemented
        = done"#]]
    .assert_eq(&shown);
}

/// Machine code that makes a call by its 32-bit number, which our list does not cover.
#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_another_architecture_end_the_process() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let code = r"
import sys
del sys.meta_path[0]
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')  # mov eax, 20; int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
";
    let error = Session::open(&sandbox, &setup()).run_to_end(code).1.unwrap_err().to_string();
    assert_eq!(error, "the sandbox process died: killed by signal 31");
}

/// Finds the descriptor of the frames and writes what the worker script would.
const FORGER: &str = r"
import os, json
def forge(message):
    body = json.dumps(message).encode()
    for descriptor in range(3, 10):
        try:
            os.write(descriptor, len(body).to_bytes(4, 'little') + body)
        except OSError:
            pass
def call(name, receiver=None):
    forge({'step': {'calls': [{'name': name, 'receiver': receiver, 'args': [], 'kwargs': []}]}})
";

#[test]
fn a_forged_frame_is_worth_no_more_than_what_a_cell_may_do() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let forged = |code: &str| {
        let mut session = Session::open(&sandbox, &setup());
        match session.run_to_end(&format!("{FORGER}\n{code}")).1 {
            Ok(_) => "the cell ended".to_owned(),
            Err(InterpreterError::Protocol { what }) => what,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(forged("call('delete_everything')"), "a call of `delete_everything`, which is not a function");
    assert_eq!(forged("call('read', ['Text', 2])"), "a call on the unknown object `Text` 2");
    assert_eq!(forged("call('read', ['Secret', 1])"), "a call on the unknown object `Secret` 1");
    assert_eq!(forged("forge('opened')"), "`opened`, which is not the expected reply");
    assert_eq!(
        forged("forge({'step': {'done': {'output': {'head': 'x' * 5000, 'tail': '', 'n_chars': 1}}}})"),
        "5000 characters of output; the maximum is 3000"
    );
    assert_eq!(
        forged("forge({'step': {'done': {'output': {'head': '', 'tail': '', 'n_chars': 0}}}})"),
        "the cell ended"
    );
    // Descriptors 0 and 1 are not what they usually are.
    let shown = Session::open(&sandbox, &setup()).run("import os\nprint(os.read(0, 10))\nos.write(1, b'hi')");
    assert_eq!(shown, "b''\n= BrokenPipeError: [Errno 32] Broken pipe");
}
