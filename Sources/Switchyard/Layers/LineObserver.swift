import Foundation

/// Prints one readable line for each thing that happens: the observer to begin with.
public struct LineObserver: InfrastructureObserver {
    private let write: @Sendable (String) -> Void

    /// - Parameter write: What to do with a line; by default it goes to standard error.
    public init(_ write: @escaping @Sendable (String) -> Void = LineObserver.writeToStandardError) {
        self.write = write
    }

    public func observe(_ event: InfrastructureEvent) {
        write("\(event.service) on \(event.provider): \(text(event.kind))")
    }

    private func text(_ kind: InfrastructureEvent.Kind) -> String {
        switch kind {
        case .call(let operation, let duration, nil): "\(operation) took \(duration)"
        case .call(let operation, let duration, let failure?): "\(operation) failed after \(duration): \(failure)"
        case .retry(let operation, let attempt, let pause, let failure):
            "\(operation) failed (\(failure)), attempt \(attempt); again in \(pause)"
        case .streamOpened(let operation): "\(operation) opened"
        case .streamClosed(let operation, nil): "\(operation) closed"
        case .streamClosed(let operation, let failure?): "\(operation) ended: \(failure)"
        case .reconnect(let operation, let attempt): "\(operation) reconnects, attempt \(attempt)"
        case .pendingWrites(let count): "\(count) write\(count == 1 ? "" : "s") pending"
        case .sendingFailed(let failure, let message): "queued writes cannot be sent (\(failure)): \(message)"
        case .tokenRefreshed(nil): "token refreshed"
        case .tokenRefreshed(let failure?): "token not refreshed: \(failure)"
        case .notice(let text): text
        }
    }

    public static let writeToStandardError: @Sendable (String) -> Void = { line in
        printToStandardError(line)
    }
}

/// One call, so that lines of several tasks do not mix; what cannot be written is nobody's to hear of.
private func printToStandardError(_ line: String) {
    var text = line + "\n"
    _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
