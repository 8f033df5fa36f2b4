import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

/// What a profile makes of what others wrote into it.
@Suite struct UserModelTests {
    static let nonsense: [DocumentValue] = [
        .double(1e300), .double(1e19), .double(-1e19), .double(.nan), .double(.infinity), .integer(.max), .integer(-1),
        .string("x"),
    ]

    @Test(arguments: nonsense)
    func `An interval that makes no sense counts as missing`(_ value: DocumentValue) async throws {
        let storage = MockStorageClient()
        let auth = MockAuthClient()
        let account = try await auth.signUp(email: "alice@example.com", password: "secret").get()
        let profile: DocumentData = [
            "checkInInterval": value, "reminderInterval": value, "lastCheckInAt": .timestamp(.distantFuture),
        ]
        try await storage.setDocument(StoragePath(validating: "users/\(account.id)"), profile)
        let core = CoreClients(auth: auth, storage: storage)
        let user = try await DocumentUserClient(on: core).currentUser()
        #expect(user.checkInInterval == UserModel.defaultCheckInInterval)
        #expect(user.reminderInterval == UserModel.defaultReminderInterval)
        #expect(user.nextCheckInAt == .distantFuture)
        #expect(try await DocumentCheckInClient(on: core).schedule() == CheckInSchedule())
    }

    @Test func `Times end where timestamps end, however far away they are wanted`() throws {
        let last = try Timestamp(validatingSeconds: 0, nanoseconds: 999_999_999)
        let ages: Duration = .seconds(1e20)
        let long = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        let past = Duration(secondsComponent: .min, attosecondsComponent: -999_999_999_999_999_999)
        for more in [ages, long] { #expect(last.advanced(by: more) == .distantFuture) }
        for more in [.zero - ages, past] { #expect(last.advanced(by: more) == .distantPast) }
        #expect(last.advanced(by: .nanoseconds(1)) == (try Timestamp(validatingSeconds: 1, nanoseconds: 0)))
        #expect(
            last.advanced(by: .nanoseconds(-1_000_000_000))
                == (try Timestamp(validatingSeconds: -1, nanoseconds: 999_999_999)))
        let user = UserModel(id: "a", lastCheckInAt: last, checkInInterval: ages, reminderInterval: .zero - ages)
        #expect(user.nextReminderAt == .distantFuture)
    }

    @Test func `A locked device is no reason to sign in again`() async throws {
        let backend = MockBackend()
        let store = MockSessionStore()
        let account = try await MockAuthClient(backend, store: store)
            .signUp(email: "alice@example.com", password: "secret").get()
        store.isLocked = true
        let core = CoreClients(auth: MockAuthClient(backend, store: store), storage: MockStorageClient())
        let users = DocumentUserClient(on: core)
        let first = await #expect(throws: UserError.self) { try await users.currentUser() }
        let second = await #expect(throws: UserError.self) { try await users.updateFields(["x": 1]) }
        for error in [first, second] {
            #expect(error?.code != .unauthenticated)
            #expect(error?.isRetryable == true)
        }
        store.isLocked = false
        #expect(try await users.currentUser().id == account.id)
    }
}
