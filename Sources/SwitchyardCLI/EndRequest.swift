import Dispatch
import Foundation

/// The wish that this process end, from the keyboard or by a signal: servers end in order then, with what they have started.
///
/// To be made after other programs were started, which would inherit that the signals are not to end them.
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

    /// Returns at the first wish, or when the task is cancelled; a second one ends the process at once.
    func wait() async {
        for await _ in requests { break }
        for number in Self.signals { signal(number, SIG_DFL) }
        for source in sources { source.cancel() }
    }
}
