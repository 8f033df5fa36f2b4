import SwitchyardBytes
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A shell script in a process of its own, which inherits no file but those it is given.
///
/// Not Foundation's `Process`: it would add Foundation's Unicode data to every static program, more than 30 MB.
final class SpawnedShell: Sendable {
    /// The system could not start a process.
    struct Refusal: Error, CustomStringConvertible {
        let code: Int32
        var description: String { "/bin/sh cannot be started (error \(code))" }
    }

    private let id: pid_t
    /// The exit status, once it is known.
    private let exit = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - arguments: Of the script; the first one is its name.
    ///   - environment: All of it.
    ///   - input: The standard input; by default, an empty one.
    ///   - output: The standard output; by default, this process's own.
    init(
        _ script: String, _ arguments: [String],
        environment: [String: String], input: Int32? = nil, output: Int32? = nil
    ) throws(Refusal) {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }

        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        // A group of its own, so that Ctrl-C in a terminal reaches only this process, which then ends the other in order. And
        // the signals as at the start of a program: the calling thread may block some, and this process ignore others.
        var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
            if output == nil { posix_spawn_file_actions_addinherit_np(&actions, 1) }
            posix_spawn_file_actions_addinherit_np(&actions, 2)
        #else
            for file in Self.openFiles { posix_spawn_file_actions_addclose(&actions, file) }
        #endif
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var strings = (["/bin/sh", "-c", script] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for variable in variables { free(variable) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw Refusal(code: code) }
        id = process
    }

    #if !canImport(Darwin)
        /// All open files but the standard ones, wherever the system lists them.
        private static var openFiles: [Int32] {
            guard let folder = opendir("/proc/self/fd") else { return [] }
            defer { closedir(folder) }
            var files: [Int32] = []
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if let file = Int32(name), file > 2 { files.append(file) }
            }
            return files
        }
    #endif

    var isRunning: Bool {
        exit.withLock { status in
            if status == nil { status = Self.status(of: id, WNOHANG) }
            return status == nil
        }
    }

    /// Blocks until it has ended.
    ///
    /// - Returns: The exit status; -1 if it was ended by a signal, or if this process does not learn how its children end.
    @discardableResult
    func wait() -> Int32 {
        exit.withLock { status in
            let known = status ?? Self.status(of: id, 0) ?? -1
            status = known
            return known
        }
    }

    private static func status(of process: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = waitpid(process, &status, options)
            if ended == 0 { return nil }
            if ended == process { return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1 }
            if errno != EINTR { return -1 }
        }
    }

    /// What has ended must be waited for, or the system keeps its number.
    deinit {
        guard isRunning else { return }
        try? LoopThread.start { [id] in _ = Self.status(of: id, 0) }
    }
}
