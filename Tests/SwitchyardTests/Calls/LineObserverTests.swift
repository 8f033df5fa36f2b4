import Foundation
import Switchyard
import SwitchyardMock
import Synchronization
import Testing

@Suite struct LineObserverTests {
    private static let away = InfrastructureEvent.Failure(.unavailable, "No network.")

    static let lines: [(InfrastructureEvent.Kind, String)] = [
        (.call(operation: "commit", duration: .seconds(2), failure: nil), "commit took 2 s"),
        (
            .call(operation: "commit", duration: .microseconds(15), failure: away),
            "commit failed after 15 µs (unavailable): No network."
        ),
        (
            .retry(operation: "commit", attempt: 3, after: .seconds(4), failure: away),
            "attempt 3 at commit failed, next in 4 s (unavailable): No network."
        ),
        (.streamOpened(operation: "listen"), "listen opened"),
        (.streamClosed(operation: "listen", failure: nil), "listen closed"),
        (.streamClosed(operation: "listen", failure: away), "listen ended (unavailable): No network."),
        (
            .reconnect(operation: "listen", attempt: 2, failure: away),
            "listen: reconnecting, attempt 2 (unavailable): No network."
        ),
        (.reconnect(operation: "listen", attempt: 2, failure: nil), "listen: reconnecting, attempt 2"),
        (.pendingWrites(count: 0, failure: nil), "0 writes pending"),
        (.pendingWrites(count: 1, failure: nil), "1 write pending"),
        (
            .pendingWrites(
                count: 3, failure: .init(.unauthenticated, "The token of “acme” has no claim “role”.")),
            "3 writes pending, last attempt failed (unauthenticated): The token of “acme” has no claim “role”."
        ),
        (
            .writeRefused(paths: ["users/a"], failure: .init(.unauthorized, "Not allowed.")),
            "the write to “users/a” was rejected (unauthorized): Not allowed."
        ),
        (
            .writeRefused(paths: ["users/a", "users/b", "users/c"], failure: .init(.unauthorized, "Not allowed.")),
            "the write to “users/a” and 2 more was rejected (unauthorized): Not allowed."
        ),
        (.tokenRefreshed(failure: nil), "token refreshed"),
        (.tokenRefreshed(failure: away), "token not refreshed (unavailable): No network."),
        (
            .readFromCache(failure: .init(.unavailable, "Could not connect.")),
            "reads are answered from the cache (unavailable): Could not connect."
        ),
        (.notice("A file was set aside."), "A file was set aside."),
        (
            .call(
                operation: "query", duration: .milliseconds(7), failure: .init(.cancelled, "The call was cancelled.")),
            "query was cancelled after 7 ms"
        ),
    ]

    private static func lines(
        _ level: LineObserver.Level, of kinds: [InfrastructureEvent.Kind], at seconds: Double = 0, zone: Int = 0
    ) -> [String] {
        let log = Mutex<[String]>([])
        let observer = LineObserver(
            level, now: { Date(timeIntervalSince1970: seconds) },
            timeZone: TimeZone(secondsFromGMT: zone) ?? .gmt
        ) { line in log.withLock { $0.append(line) } }
        for kind in kinds {
            observer.observe(InfrastructureEvent(service: .storage, provider: "acme", kind: kind))
        }
        return log.withLock { $0 }
    }

    @Test(arguments: lines)
    func `Each kind of event is one readable line`(kind: InfrastructureEvent.Kind, line: String) {
        #expect(Self.lines(.debug, of: [kind]) == ["00:00:00.000 storage on acme: \(line)"])
    }

    private static let forgery = "a\n00:00:00.000 auth on acme: token refreshed"

    @Test(
        arguments: [
            .writeRefused(paths: ["users/" + forgery], failure: away), .notice(forgery),
            .call(operation: "commit", duration: .zero, failure: .init(.unavailable, forgery)),
            .readFromCache(failure: .init(.unavailable, "\u{1B}[2K\r\u{85}\u{2028}\u{202E}txt")),
        ] as [InfrastructureEvent.Kind])
    func `Nothing that an event holds makes a line of its own, or changes what a terminal shows`(
        _ kind: InfrastructureEvent.Kind
    ) throws {
        let log = Mutex<[String]>([])
        let observer = LineObserver(.debug, now: { Date(timeIntervalSince1970: 0) }) { line in
            log.withLock { $0.append(line) }
        }
        observer.observe(InfrastructureEvent(service: .storage, provider: "acme", kind: kind, requestID: Self.forgery))
        let line = try #require(log.withLock { $0.first })
        let scalars = line.unicodeScalars
        #expect(
            !scalars.contains { $0.properties.generalCategory == .control || $0.properties.isBidiControl }, "\(line)")
        #expect(!line.contains(where: \.isNewline) && line.contains(#"a\n00:00"#))
    }

    @Test func `Lines begin with the time of day where somebody is`() {
        let lines = Self.lines(.debug, of: [.notice("Now.")], at: 86_400 + 3_723.0456, zone: 3600)
        #expect(lines == ["02:02:03.045 storage on acme: Now."])
    }

    @Test func `A program that starts with no user signed in prints nothing about tokens and sessions`() async throws {
        let log = Mutex<[String]>([])
        let observer = LineObserver { line in log.withLock { $0.append(line) } }
        let backend = try await Infrastructure(.mock, observer: observer)
        for await _ in backend.auth.authStateStream() { break }
        await #expect(throws: AuthError.self) { try await backend.auth.accessToken(refreshing: false) }
        try await backend.storage.setDocument("a/b", ["n": 1])
        await backend.shutDown()
        let lines = log.withLock { $0 }
        #expect(lines.contains { $0.contains("commit") })
        #expect(!lines.contains { $0.contains("access token") || $0.contains("state stream") })
    }

    @Test func `Token look-ups are for debugging, and warnings are what went wrong and was not wanted`() {
        let quiet: [InfrastructureEvent.Kind] = [
            .call(operation: "access token", duration: .zero, failure: nil), .tokenRefreshed(failure: nil),
            .call(operation: "access token", duration: .zero, failure: .init(.notSignedIn, "No user is signed in.")),
            .streamOpened(operation: "state stream"), .streamClosed(operation: "state stream", failure: nil),
            .call(operation: "verify token", duration: .zero, failure: nil),
            .call(operation: "verify token", duration: .zero, failure: .init(.tokenExpired, "The token has expired.")),
        ]
        let usual: [InfrastructureEvent.Kind] = [
            .call(operation: "commit", duration: .zero, failure: nil), .streamOpened(operation: "listen"),
            .streamClosed(operation: "listen", failure: nil), .pendingWrites(count: 1, failure: nil),
            .call(operation: "commit", duration: .zero, failure: .init(.cancelled, "The call was cancelled.")),
            .streamClosed(operation: "listen", failure: .init(.shutDown, "The client was shut down.")),
        ]
        let wrong: [InfrastructureEvent.Kind] = [
            .call(operation: "access token", duration: .zero, failure: Self.away),
            .tokenRefreshed(failure: Self.away), .pendingWrites(count: 1, failure: Self.away),
            .retry(operation: "commit", attempt: 1, after: .zero, failure: Self.away),
            .writeRefused(paths: ["a/b"], failure: Self.away), .notice("So."),
            .reconnect(operation: "listen", attempt: 1, failure: nil),
        ]
        let counts = LineObserver.Level.allCases.map { Self.lines($0, of: quiet + usual + wrong).count }
        #expect(counts == [20, 13, 7])
    }
}
