import Dispatch
import Foundation

/// A request to end this process, from the keyboard or by a signal: servers then shut down cleanly.
///
/// Make it after starting other programs, which would otherwise inherit that the signals are ignored.
struct EndRequest {
    private let requests: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]
    private static let signals = [SIGINT, SIGTERM]

    init() {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        self.requests = requests
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns at the first request, or when the task is cancelled; a second request ends the process at once.
    func wait() async {
        for await _ in requests { break }
        for number in Self.signals { signal(number, SIG_DFL) }
        for source in sources { source.cancel() }
    }
}
