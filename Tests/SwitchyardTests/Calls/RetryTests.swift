import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

/// What is repeated, how often, with which pauses, and what is reported of it.
@Suite struct RetryTests {
    /// Three attempts without pauses.
    static let hasty = RetryPolicy(maximumAttempts: 3, initialPause: .zero, maximumPause: .zero)

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let attempts: Int
        var testDescription: String { name }
    }

    @Test func `What was refused because too much is under way is not repeated`() async throws {
        let mock = MockStorageClient(MockBackend(), network: MockNetwork())
        let attempts = try await attempts(at: mock.controls, StorageError(.overloaded, "Too much.")) {
            _ = try await mock.retrying(Self.hasty).document("a/1", from: .server)
        }
        #expect(attempts == 1)
    }

    // MARK: Auth

    private static let authCalls: [String: @Sendable (any AuthClient, MockAccounts) async throws -> Void] = [
        "sign up": { auth, _ in try await auth.signUp(email: "b@example.com", password: "long enough") },
        "sign in": { auth, _ in try await auth.signIn(email: "a@example.com", password: "long enough") },
        "sign in with a token of one's own": { auth, accounts in
            try await auth.signIn(with: .customToken(accounts.customToken(for: "somebody")))
        },
        "sign in anonymously": { auth, _ in try await auth.signInAnonymously() },
        "sign in by a code": { auth, _ in
            try await auth.signIn(with: .phoneCode(PhoneVerification(phoneNumber: "+15550000", id: "x"), "123456"))
        },
        "send phone code": { auth, _ in _ = try await auth.sendPhoneCode(to: "+15550000") },
        "resend confirmation": { auth, _ in try await auth.resendConfirmation(to: "a@example.com") },
        "send password reset": { auth, _ in try await auth.sendPasswordReset(to: "a@example.com") },
        "begin browser sign-in": { auth, _ in
            _ = try await auth.beginBrowserSignIn(
                with: .google, redirectURL: URL(string: "app://callback")!, scopes: [])
        },
        "access token": { auth, _ in _ = try await auth.accessToken(refreshing: true) },
        "reload user": { auth, _ in try await auth.reloadUser() },
        "update account": { auth, _ in try await auth.updateAccount(AccountChanges(displayName: "A")) },
        "delete account": { auth, _ in try await auth.deleteAccount() },
    ]

    @Test(arguments: [
        Case(name: "sign up", attempts: 1), Case(name: "sign in", attempts: 3),
        Case(name: "sign in with a token of one's own", attempts: 3), Case(name: "sign in anonymously", attempts: 1),
        Case(name: "sign in by a code", attempts: 1), Case(name: "send phone code", attempts: 1),
        Case(name: "resend confirmation", attempts: 1), Case(name: "send password reset", attempts: 1),
        Case(name: "begin browser sign-in", attempts: 3),
        Case(name: "access token", attempts: 3), Case(name: "reload user", attempts: 3),
        Case(name: "update account", attempts: 1), Case(name: "delete account", attempts: 1),
    ])
    func `Auth repeats what makes nothing, sends nothing and uses nothing up`(_ one: Case) async throws {
        let backend = MockBackend()
        let mock = MockAuthClient(backend)
        try await mock.signUp(email: "a@example.com", password: "long enough")
        let call = try #require(Self.authCalls[one.name])
        let attempts = try await attempts(at: mock.controls, AuthError(.unavailable, "Gone.")) {
            try await call(mock.retrying(Self.hasty), backend.accounts)
        }
        #expect(attempts == one.attempts)
    }

    @Test func `A token is never that of a session which came in between the attempts`() async throws {
        let clock = ManualClock()
        let mock = MockAuthClient(MockBackend())
        try await mock.signUp(email: "a@example.com", password: "long enough")
        let auth = mock.retrying(.standard, clock: clock)
        mock.controls.fail(.refreshToken, with: AuthError(.unavailable, "Gone."))
        let asking = Task { () -> AuthError? in
            do throws(AuthError) {
                _ = try await auth.accessToken(refreshing: true)
                return nil
            } catch {
                return error
            }
        }
        try await eventually("the pause") { clock.sleeperCount == 1 }
        try await mock.signUp(email: "b@example.com", password: "long enough")
        clock.advance(by: .seconds(60))
        #expect(await asking.value?.code == .sessionChanged)
    }

    // MARK: Files

    private static let fileCalls: [String: @Sendable (any FileStorageClient) async throws -> Void] = [
        "data": { _ = try await $0.data(at: "a.txt") },
        "metadata": { _ = try await $0.metadata(of: "a.txt") },
        "update metadata": { _ = try await $0.updateMetadata(of: "a.txt", FileMetadataChanges(cacheControl: "x")) },
        "list": { _ = try await $0.list() },
        "download address": { _ = try await $0.downloadURL(of: "a.txt", expiresIn: .seconds(60)) },
        "copy": { _ = try await $0.copy("a.txt", to: "b.txt") },
        "move": { _ = try await $0.move("a.txt", to: "b.txt") },
        "delete": { try await $0.delete("a.txt") },
    ]

    @Test(arguments: [
        Case(name: "data", attempts: 3), Case(name: "metadata", attempts: 3),
        Case(name: "update metadata", attempts: 3), Case(name: "list", attempts: 3),
        Case(name: "download address", attempts: 3), Case(name: "copy", attempts: 1),
        Case(name: "move", attempts: 1), Case(name: "delete", attempts: 1),
    ])
    func `Files repeat reads, and changes that end the same`(_ one: Case) async throws {
        let mock = MockFileStorageClient(MockBackend())
        try await mock.put(Data("x".utf8), at: "a.txt")
        let call = try #require(Self.fileCalls[one.name])
        let attempts = try await attempts(at: mock.controls, FileStorageError(.unavailable, "Gone.")) {
            try await call(mock.retrying(Self.hasty))
        }
        #expect(attempts == one.attempts)
    }

    // MARK: Messaging

    private static let messagingCalls: [String: @Sendable (any MessagingClient) async throws -> Void] = [
        "token": { _ = try await $0.token() },
        "set platform token": { try await $0.setPlatformToken(PlatformPushToken(.apns, token: "x")) },
        "subscribe": { try await $0.subscribe(to: "news") },
        "unsubscribe": { try await $0.unsubscribe(from: "news") },
        "delete token": { try await $0.deleteToken() },
        "set permission": { try await $0.setPermission(.granted) },
    ]

    @Test(arguments: [
        Case(name: "token", attempts: 3), Case(name: "set platform token", attempts: 3),
        Case(name: "subscribe", attempts: 3), Case(name: "unsubscribe", attempts: 3),
        Case(name: "delete token", attempts: 3), Case(name: "set permission", attempts: 3),
    ])
    func `Messaging repeats all that goes to the server`(_ one: Case) async throws {
        let mock = MockMessagingClient(MockBackend())
        if one.name.hasSuffix("subscribe") { _ = try await mock.token() }
        let call = try #require(Self.messagingCalls[one.name])
        let attempts = try await attempts(at: mock.controls, MessagingError(.unavailable, "Gone.")) {
            try await call(mock.retrying(Self.hasty))
        }
        #expect(attempts == one.attempts)
    }

    // MARK: Storage

    private static let storageCalls: [String: @Sendable (any StorageClient) async throws -> Void] = [
        "document": { _ = try await $0.document("a/1") },
        "documents": { _ = try await $0.documents(["a/1"]) },
        "query": { _ = try await $0.documents(Query(in: "a")) },
        "count": { _ = try await $0.count(Query(in: "a")) },
        "collections": { _ = try await $0.collections() },
        "set": { try await $0.setDocument("a/1", ["n": 1]) },
        "increment": { try await $0.mergeDocument("a/1", ["n": .increment(1)]) },
        "update": { try await $0.updateDocument("a/1", ["n": 1]) },
    ]

    @Test(arguments: [
        Case(name: "document", attempts: 3), Case(name: "documents", attempts: 3), Case(name: "query", attempts: 3),
        Case(name: "count", attempts: 3), Case(name: "collections", attempts: 3), Case(name: "set", attempts: 3),
        Case(name: "increment", attempts: 1), Case(name: "update", attempts: 1),
    ])
    func `Storage repeats reads, and writes that may take effect twice`(_ one: Case) async throws {
        let mock = MockStorageClient(MockBackend())
        let call = try #require(Self.storageCalls[one.name])
        let attempts = try await attempts(at: mock.controls, StorageError(.unavailable, "Gone.")) {
            try await call(mock.retrying(Self.hasty))
        }
        #expect(attempts == one.attempts)
    }

    /// How often a call comes through to the mock when it fails twice: three times if it is repeated, then it succeeds.
    private func attempts<Failure>(
        at controls: MockControls<Failure>, _ error: Failure, _ call: () async throws -> Void
    ) async throws -> Int {
        controls.isRecording = true
        controls.failAny(times: 2, with: error)
        do {
            try await call()
            #expect(controls.calls.count >= 3)
            // A call that needs another first, as a subscription needs the token, is that call's as well.
            return min(3, controls.calls.count)
        } catch let failure as Failure where failure.code.rawValue == error.code.rawValue {
            return controls.calls.count
        }
    }

    // MARK: Pauses

    @Test func `Pauses grow, respect what the server asked for, and are reported to the observer`() async throws {
        let clock = ManualClock()
        let events = EventLog()
        let mock = MockStorageClient(MockBackend())
        let storage = mock.with(
            CallPolicy(.storage, { .mock }, retry: .standard, observer: events, clock: clock))
        mock.controls.fail(.document, onCall: 1, with: StorageError(.unavailable, "Gone."))
        mock.controls.fail(
            .document, onCall: 2, with: StorageError(.resourceExhausted, "Too many.", retryAfter: .seconds(7)))
        mock.controls.fail(.document, onCall: 3, with: StorageError(.unavailable, "Gone."))
        let reading = Task { try await storage.document("a/1") }
        var pauses: [Duration] = []
        for _ in 0..<3 {
            try await eventually("a pause") { clock.sleeperCount == 1 }
            let pause = try #require(clock.deadlines.first).offset - clock.now.offset
            pauses.append(pause)
            clock.advance(by: pause)
        }
        #expect(try await reading.value.exists == false)
        #expect((.milliseconds(100)...(.milliseconds(300))).contains(pauses[0]))
        #expect(pauses[1] == .seconds(7))
        #expect((.milliseconds(225)...(.milliseconds(675))).contains(pauses[2]))
        let failures: [InfrastructureEvent.Failure] = [
            .init(.unavailable, "Reading “a/1” failed: Gone."),
            .init(.resourceExhausted, "Reading “a/1” failed: Too many."),
            .init(.unavailable, "Reading “a/1” failed: Gone."),
        ]
        #expect(
            Array(events.kinds.dropLast())
                == failures.indices.map { index in
                    .retry(operation: "document", attempt: index + 1, after: pauses[index], failure: failures[index])
                })
    }

    @Test func `Whoever is asked to wait longer than a pause may be learns it at once`() async throws {
        let clock = ManualClock()
        let mock = MockStorageClient(MockBackend())
        let storage = mock.retrying(.standard, clock: clock)
        mock.controls.isRecording = true
        mock.controls.fail(
            .document, with: StorageError(.resourceExhausted, "Too many.", retryAfter: .seconds(86_400)))
        let ended = Mutex(false)
        let reading = Task {
            defer { ended.withLock { $0 = true } }
            return try await storage.document("a/1")
        }
        try await eventually("an end or a pause") { ended.withLock { $0 } || clock.sleeperCount > 0 }
        #expect(clock.sleeperCount == 0)
        reading.cancel()
        let error = await #expect(throws: StorageError.self) { try await reading.value }
        #expect(error?.retryAfter == .seconds(86_400) && mock.controls.calls.count == 1)
    }

    @Test func `A failure for good, one too many, or a cancelled pause ends with the last failure`() async throws {
        let mock = MockStorageClient(MockBackend())
        mock.controls.isRecording = true
        mock.controls.fail(.document, with: StorageError(.unauthorized, "No."))
        let refused = await #expect(throws: StorageError.self) { try await mock.retrying().document("a/1") }
        #expect(refused?.code == .unauthorized && mock.controls.calls.count == 1)

        mock.controls.fail(.document, times: 3, with: StorageError(.unavailable, "Gone."))
        let exhausted = await #expect(throws: StorageError.self) {
            try await mock.retrying(Self.hasty).document("a/1")
        }
        #expect(exhausted?.code == .unavailable && mock.controls.calls.count == 4)

        let clock = ManualClock()
        mock.controls.fail(.document, with: StorageError(.unavailable, "Gone."))
        let reading = Task { try await mock.retrying(.standard, clock: clock).document("a/1") }
        try await eventually("the pause") { clock.sleeperCount == 1 }
        reading.cancel()
        let cancelled = await #expect(throws: StorageError.self) { try await reading.value }
        #expect(cancelled?.code == .unavailable)
    }
}
