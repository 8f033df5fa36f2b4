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

/// A program in a process of its own, which inherits no file but those it is given.
///
/// Not Foundation's `Process`: it would add Foundation's Unicode data to every static program, more than 30 MB, and it learns of
/// an end only when a socket closes that other programs may have inherited.
package final class SpawnedProcess: Sendable {
    /// The system could not start a process.
    package struct Refusal: Error, CustomStringConvertible {
        let program: String
        let code: Int32
        package var description: String { "\(program) cannot be started: \(SystemFailure(code))" }
    }

    /// How a program has ended.
    package enum End: Sendable, Equatable {
        case exited(status: Int32)
        case killed(signal: Int32)
        /// This process does not learn how its children end.
        case unknown
    }

    package let id: Int32
    /// How it has ended, once that is known.
    private let known = Mutex<End?>(nil)

    /// Runs a shell script.
    ///
    /// - Parameter arguments: Of the script; the first one is its name.
    convenience init(
        script: String, _ arguments: [String],
        environment: [String: String], input: Int32? = nil, output: Int32? = nil
    ) throws(Refusal) {
        try self.init("/bin/sh", ["-c", script] + arguments, environment: environment, input: input, output: output)
    }

    /// - Parameters:
    ///   - program: Its path.
    ///   - environment: All of it.
    ///   - input: The standard input; by default, an empty one.
    ///   - output: The standard output; by default, this process's own.
    ///   - errors: The standard error; by default, this process's own.
    package init(
        _ program: String, _ arguments: [String],
        environment: [String: String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil
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
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors, 2) }
        // A group of its own, so that Ctrl-C in a terminal reaches only this process, which then ends the other in order. And
        // the signals as at the start of a program: the calling thread may block some, and this process ignore others.
        var flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #if canImport(Darwin)
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
            if output == nil { posix_spawn_file_actions_addinherit_np(&actions, 1) }
            if errors == nil { posix_spawn_file_actions_addinherit_np(&actions, 2) }
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

        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for variable in variables { free(variable) } }
        var process = pid_t()
        let code = posix_spawn(&process, program, &actions, &attributes, &strings, &variables)
        guard code == 0 else { throw Refusal(program: program, code: code) }
        id = process
        // The system keeps the number of what has ended until somebody has waited for it, and who waits for any child of this
        // process, as tests do that expect a process to exit, finds that one again and again.
        try? LoopThread.start { [self] in wait() }
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

    package var isRunning: Bool { ended() == nil }

    /// How it has ended; `nil` while it runs. Never waits.
    package func ended() -> End? {
        known.withLock { end in
            if end == nil { end = Self.end(of: id, WNOHANG) }
            return end
        }
    }

    /// Blocks until it has ended.
    @discardableResult
    package func wait() -> End {
        while true {
            if let end = ended() { return end }
            // Leaves the end to be found, so that others may ask and signal meanwhile.
            var information = siginfo_t()
            if waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno != EINTR {
                return ended() ?? .unknown
            }
        }
    }

    /// Waits until it has ended, on a thread of its own.
    package func end() async throws -> End {
        try await withCheckedThrowingContinuation { continuation in
            do throws(LoopThread.Refusal) {
                try LoopThread.start { continuation.resume(returning: self.wait()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Sends it a signal, unless it has ended: then its number may be another program's.
    ///
    /// - Returns: Whether it was still running.
    @discardableResult
    package func send(_ signal: Int32) -> Bool {
        known.withLock { end in
            if end == nil { end = Self.end(of: id, WNOHANG) }
            return end == nil && kill(id, signal) == 0
        }
    }

    private static func end(of process: pid_t, _ options: Int32) -> End? {
        var status: Int32 = 0
        while true {
            let ended = waitpid(process, &status, options)
            if ended == 0 { return nil }
            if ended == process {
                return status & 0x7F == 0 ? .exited(status: (status >> 8) & 0xFF) : .killed(signal: status & 0x7F)
            }
            if errno != EINTR { return .unknown }
        }
    }
}
