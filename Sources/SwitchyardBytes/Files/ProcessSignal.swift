import Dispatch
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

/// A signal between the processes that share a folder: each tells the others that something has changed, and hears when another
/// does.
///
/// It is a file to which every sender adds a line with its own name. Nothing is lost if nobody listens, and a process that has
/// been suspended hears one signal for all that it missed.
package final class ProcessSignal: Sendable {
    private struct State {
        /// How far the file has been read.
        var offset: Int
        /// Ends the watch of the file; `nil` once it has ended, or where there is none.
        var stop: Once?
    }

    private let path: String
    private let name = RandomID.make(length: 12)
    private let state: Mutex<State>
    private let heard: @Sendable () -> Void
    /// A sender empties a longer file first: nobody needs old signals.
    private static let maximumSize = 64 << 10

    /// - Parameters:
    ///   - path: A file in an existing folder, created if missing. Without access to it, nothing is sent or heard.
    ///   - heard: Called after another process, or another `ProcessSignal` of this one, has sent. Several signals may be one call.
    package init(_ path: String, heard: @escaping @Sendable () -> Void) {
        self.path = path
        self.heard = heard
        let descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        state = Mutex(State(offset: descriptor < 0 ? 0 : max(0, Int(lseek(descriptor, 0, SEEK_END))), stop: nil))
        if descriptor >= 0 { close(descriptor) }
        let stop = Self.watch(path) { [weak self] in self?.read() }
        state.withLock { $0.stop = stop }
        // What was sent before the file was watched.
        self.read()
    }

    deinit { stop() }

    /// Tells the others.
    package func send() {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if lseek(descriptor, 0, SEEK_END) > Self.maximumSize { _ = ftruncate(descriptor, 0) }
        let line = Array((name + "\n").utf8)
        // A line this short is added whole, or not at all.
        _ = write(descriptor, line, line.count)
    }

    /// Hears nothing from now on.
    package func stop() {
        let stop = state.withLock { state in
            defer { state.stop = nil }
            return state.stop
        }
        stop?.run()
    }

    private func read() {
        let isOther = state.withLock { state -> Bool in
            guard state.stop != nil, let bytes = try? POSIXFile.read(path) else { return false }
            if bytes.count < state.offset { state.offset = 0 }
            let new = bytes[state.offset...]
            state.offset = bytes.count
            return new.split(separator: UInt8(ascii: "\n")).contains { !$0.elementsEqual(name.utf8) }
        }
        if isOther { heard() }
    }

    // MARK: Watching a file

    private static func begin(_ source: any DispatchSourceProtocol) -> Once {
        source.activate()
        // Any thread may cancel it.
        nonisolated(unsafe) let source = source
        return Once { source.cancel() }
    }

    #if canImport(Darwin)
        private static func watch(
            _ path: String, _ changed: @escaping @Sendable () -> Void
        ) -> Once? {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .extend], queue: .global())
            source.setEventHandler(handler: changed)
            source.setCancelHandler { close(descriptor) }
            return begin(source)
        }
    #elseif canImport(Glibc) || canImport(Android)
        private static func watch(
            _ path: String, _ changed: @escaping @Sendable () -> Void
        ) -> Once? {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
                close(descriptor)
                return nil
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
            source.setEventHandler {
                discardEvents(descriptor)
                changed()
            }
            source.setCancelHandler { close(descriptor) }
            return begin(source)
        }
    #else
        private static func watch(
            _ path: String, _ changed: @escaping @Sendable () -> Void
        ) -> Once? {
            let source = DispatchSource.makeTimerSource(queue: .global())
            source.schedule(deadline: .now() + 1, repeating: 1)
            source.setEventHandler(handler: changed)
            return begin(source)
        }
    #endif
}

#if canImport(Glibc) || canImport(Android)
    /// Reads what an event says and forgets it: the file says as much.
    private func discardEvents(_ descriptor: Int32) {
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
    }
#endif
