public import Foundation
import SwitchyardBytes

/// Prints one readable line per event; the observer to start with.
///
/// Paths, requests' IDs and servers' messages may contain text from outside. Line ends and other control characters in them are
/// escaped, so no such text can forge a line.
///
/// ```
/// 09:41:07.213 storage on acme: commit took 812 µs
/// 09:41:09.004 storage on acme: 3 writes pending, last attempt failed (unauthenticated): The token has no claim “role”.
/// ```
public struct LineObserver: InfrastructureObserver {
    /// How important a line is.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Routine events, too: fetching and refreshing tokens, and observing the session.
        case debug
        /// Each call, stream and transfer.
        case info
        /// Failures and the reactions to them.
        case warning

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let level: Level
    private let now: @Sendable () -> Date
    private let timeZone: TimeZone
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - level: Anything below is not printed.
    ///   - write: What to do with a line; by default it goes to standard error.
    public init(
        _ level: Level = .info, write: @escaping @Sendable (String) -> Void = LineObserver.writeToStandardError
    ) { self.init(level, now: { Date() }, write: write) }

    /// - Parameters:
    ///   - level: Anything below is not printed.
    ///   - now: The time of day at the beginning of lines.
    ///   - timeZone: Its time zone.
    ///   - write: What to do with a line; by default it goes to standard error.
    public init(
        _ level: Level = .info, now: @escaping @Sendable () -> Date, timeZone: TimeZone = .current,
        write: @escaping @Sendable (String) -> Void = LineObserver.writeToStandardError
    ) {
        self.level = level
        self.now = now
        self.timeZone = timeZone
        self.write = write
    }

    public func observe(_ event: InfrastructureEvent) {
        guard LineObserver.level(of: event.kind) >= level else { return }
        let request = event.requestID.map { " for \($0)" } ?? ""
        write(
            LineObserver.line(
                "\(time) \(event.service) on \(event.provider)\(request): \(LineObserver.text(event.kind))"))
    }

    /// The text with everything escaped that ends a line, changes what a terminal shows, or reorders it.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if isHarmful(scalar) {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private var time: String {
        let now = now()
        let local = Timestamp(now.addingTimeInterval(Double(timeZone.secondsFromGMT(for: now))))
        let moment = RFC3339.Moment(seconds: local.seconds, nanoseconds: local.nanoseconds)
        // Without the date and the trailing Z.
        return String(RFC3339.format(moment, fraction: .digits(3)).dropFirst("2026-01-01T".count).dropLast())
    }

    private static func level(of kind: InfrastructureEvent.Kind) -> Level {
        switch kind {
        case .call("access token", _, nil), .call("verify token", _, nil), .tokenRefreshed(nil): .debug
        // Every token expires sooner or later.
        case .call("verify token", _, let failure?) where failure.code == .tokenExpired: .debug
        // No one is signed in, as on every first launch: not a failure.
        case .call("access token", _, let failure?) where failure.code == .notSignedIn: .debug
        case .streamOpened("state stream"), .streamClosed("state stream", nil): .debug
        // The program intended this: it gave up waiting, or shut the client down.
        case .call(_, _, let failure?) where failure.isWanted: .info
        case .streamClosed(_, let failure?) where failure.isWanted: .info
        case .call(_, _, nil), .streamOpened, .streamClosed(_, nil), .pendingWrites(_, nil): .info
        case .call, .streamClosed, .pendingWrites, .tokenRefreshed: .warning
        case .retry, .reconnect, .readFromCache, .writeRefused, .notice: .warning
        }
    }

    private static func text(_ kind: InfrastructureEvent.Kind) -> String {
        switch kind {
        case .call(let operation, let duration, nil): return "\(operation) took \(duration.readable)"
        case .call(let operation, let duration, let failure?) where failure.code == .cancelled:
            return "\(operation) was cancelled after \(duration.readable)"
        case .call(let operation, let duration, let failure?):
            return "\(operation) failed after \(duration.readable) \(failure)"
        case .retry(let operation, let attempt, let pause, let failure):
            return "attempt \(attempt) at \(operation) failed, next in \(pause.readable) \(failure)"
        case .readFromCache(let failure): return "reads are answered from the cache \(failure)"
        case .streamOpened(let operation): return "\(operation) opened"
        case .streamClosed(let operation, nil): return "\(operation) closed"
        case .streamClosed(let operation, let failure?): return "\(operation) ended \(failure)"
        case .reconnect(let operation, let attempt, let failure):
            return "\(operation): reconnecting, attempt \(attempt)" + (failure.map { " \($0)" } ?? "")
        case .pendingWrites(let count, let failure):
            let queue = "\(count) write\(count == 1 ? "" : "s") pending"
            return queue + (failure.map { ", last attempt failed \($0)" } ?? "")
        case .writeRefused(let paths, let failure):
            let first = paths.first.map { "“\($0)”" } ?? "nothing"
            let subject = paths.count > 1 ? "\(first) and \(paths.count - 1) more" : first
            return "the write to \(subject) was rejected \(failure)"
        case .tokenRefreshed(nil): return "token refreshed"
        case .tokenRefreshed(let failure?): return "token not refreshed \(failure)"
        case .notice(let text): return text
        }
    }

    public static let writeToStandardError: @Sendable (String) -> Void = { line in
        printToStandardError(line)
    }
}

extension InfrastructureEvent.Failure {
    fileprivate var isWanted: Bool { code == .cancelled || code == .shutDown }
}

/// Writes in one call, so that lines of several tasks do not mix. Errors of writing are ignored.
private func printToStandardError(_ line: String) {
    var text = line + "\n"
    _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
