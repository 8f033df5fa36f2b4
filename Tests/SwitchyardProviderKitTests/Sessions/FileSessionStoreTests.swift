import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import Testing

@Suite struct FileSessionStoreTests {
    private let folder = SessionFolder()
    private let alice: AuthSession = {
        var session = SessionSamples.session("a", revision: 7)
        session.user = AuthUser(
            id: "alice", email: "älice@example.com", isEmailVerified: true, phoneNumber: "+15005550006",
            displayName: "Älice \"A\" 😀\n", photoURL: URL(string: "https://example.com/a.png"),
            identities: [.password, .google],
            secondFactors: [
                SecondFactor(id: "f", kind: .totp, displayName: "phone"), SecondFactor(id: "g", kind: .phone),
            ],
            createdAt: Date(timeIntervalSince1970: 1_700_000_000.5), lastSignInAt: Date(timeIntervalSince1970: 5))
        return session
    }()

    private func begin(_ session: AuthSession) -> SessionChange { SessionChange(.begin(session), in: nil) }

    @Test func `Every record is read as it was written`() {
        var over = alice
        over.tokens = nil
        let records: [SessionRecord] = [
            .session(alice), .session(over), .session(SessionSamples.session("b", user: "bob")),
            .signedOut(SignOut(.accountDeleted, wipesLocalData: true)), .signedOut(SignOut(.never)),
        ]
        for record in records {
            let folder = SessionFolder()
            let store = FileSessionStore(folder: folder.url)
            if let session = record.session {
                #expect(store.apply(begin(session)).result == .kept(record))
            } else if case .signedOut(let end) = record {
                #expect(store.apply(SessionChange(.signOut(end), in: nil)).result == .kept(record))
            }
            #expect(FileSessionStore(folder: folder.url).read() == .found(record))
        }
    }

    @Test func `Dates are read to the last bit, so that a refresh is no new state`() {
        let store = FileSessionStore(folder: folder.url)
        for milliseconds in stride(from: 1_700_000_000_001.0, to: 1_700_000_000_100, by: 7) {
            var session = SessionSamples.session("a")
            session.user.lastSignInAt = Date(timeIntervalSince1970: milliseconds / 1000)
            _ = store.apply(begin(session))
            let renewed = store.apply(SessionChange(.renew(SessionSamples.tokens("x"), nil, revision: 1), in: "a"))
            #expect(renewed.result.record.session?.user == session.user)
        }
    }

    @Test func `A new folder has no session`() {
        #expect(FileSessionStore(folder: folder.url).read() == .found(.none))
        #expect(folder.names.isEmpty, "reading creates nothing")
    }

    @Test func `The file is its owner's alone, and so is the folder`() throws {
        _ = FileSessionStore(folder: folder.url).apply(begin(alice))
        func mode(_ path: String) throws -> Int? {
            try (FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
        }
        #expect(try mode(folder.file.path) == 0o600)
        #expect(try mode(folder.url.path) == 0o700)
        #expect(folder.names == ["session", "session.lock"], "nothing is left beside it")
    }

    @Test func `A second process finds what the first has written, and notices at once`() {
        let first = FileSessionStore(folder: folder.url)
        let second = FileSessionStore(folder: folder.url)
        let before = second.mark
        let written = first.apply(begin(alice))
        #expect(second.mark != before && second.mark == written.mark)
        #expect(second.read() == .found(.session(alice)))
        let fresh = SessionSamples.tokens("fresh")
        let renewed = second.apply(SessionChange(.renew(fresh, nil, revision: 7), in: "a"))
        #expect(renewed.result.record.session?.revision == 8)
        #expect(first.mark != written.mark)
        // The first is late with its own refresh: it gets what is there.
        let late = first.apply(SessionChange(.renew(SessionSamples.tokens("late"), nil, revision: 7), in: "a"))
        #expect(late.result == .overtaken(renewed.result.record))
    }

    @Test(arguments: ["", "no session", "switchyard-session 1 0\n{}", "switchyard-session x 0\n{}"])
    func `A damaged file is reported, set aside and not lost`(text: String) throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.file)
        let store = FileSessionStore(folder: folder.url)
        guard case .found(.none, let notice?) = store.read() else { return #expect(Bool(false), "\(store.read())") }
        #expect(notice.contains("session.damaged-1"))
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("session.damaged-1")) == Data(text.utf8))
        #expect(store.read() == .found(.none), "and reported once")
        _ = store.apply(begin(alice))
        #expect(store.read() == .found(.session(alice)))
    }

    @Test func `A request to wipe takes what was set aside along, and that of no other session`() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let store = FileSessionStore(folder: folder.url)
        for round in 1...2 {
            try Data("no session".utf8).write(to: folder.file)
            _ = store.read()
            #expect(folder.names.contains("session.damaged-\(round)"))
        }
        let others = folder.url.appendingPathComponent("session-2.damaged-1")
        try Data("another".utf8).write(to: others)
        _ = store.apply(begin(alice))
        _ = store.apply(SessionChange(.signOut(SignOut(.byUser)), in: "a"))
        #expect(folder.names.contains("session.damaged-2"), "without that request everything stays")
        _ = store.apply(begin(alice))
        _ = store.apply(SessionChange(.signOut(SignOut(.byUser, wipesLocalData: true)), in: "a"))
        #expect(folder.names.filter { $0.contains("damaged") } == ["session-2.damaged-1"])
        #expect(store.read() == .found(.signedOut(SignOut(.byUser, wipesLocalData: true))))
    }

    @Test func `A session of a later version goes with a request to wipe, and is not set aside`() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("switchyard-session 2 0\nwhatever".utf8).write(to: folder.file)
        let store = FileSessionStore(folder: folder.url)
        _ = store.apply(SessionChange(.signOut(SignOut(.byUser, wipesLocalData: true)), in: nil))
        #expect(!folder.names.contains { $0.contains("unreadable") })
    }

    @Test func `A single flipped bit is noticed`() throws {
        _ = FileSessionStore(folder: folder.url).apply(begin(SessionSamples.session("a")))
        let whole = try Data(contentsOf: folder.file)
        for index in RunSize.part(of: Array(whole.indices), every: 5) {
            for bit in [UInt8(1), 0x20] {
                var bytes = whole
                bytes[index] ^= bit
                try bytes.write(to: folder.file)
                let store = FileSessionStore(folder: folder.url)
                switch store.read() {
                case .found(.session(let session), nil):
                    // Harmless spellings of the checksum, and nothing else.
                    #expect(session == SessionSamples.session("a"), "byte \(index)")
                case .found(.none, .some), .unreadable: break
                case let other: #expect(Bool(false), "byte \(index): \(other)")
                }
                for name in folder.names where name.contains("damaged") {
                    try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
                }
            }
        }
    }

    @Test func `A file of a later version is left alone until somebody signs in`() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let text = Data("switchyard-session 2 0\nwhatever".utf8)
        try text.write(to: folder.file)
        let store = FileSessionStore(folder: folder.url)
        guard case .unreadable = store.read() else { return #expect(Bool(false)) }
        #expect(try Data(contentsOf: folder.file) == text)
        _ = store.apply(begin(alice))
        #expect(store.read() == .found(.session(alice)))
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("session.unreadable-1")) == text)
    }

    @Test func `A session that cannot be written holds in memory, and a later write brings the file up to date`() throws
    {
        // A file where the folder should be: nothing can be made in it, not even by an administrator.
        let place = folder.url
        try Data().write(to: place)
        let store = FileSessionStore(folder: place)
        let outcome = store.apply(begin(alice))
        #expect(outcome.result == .kept(.session(alice)) && outcome.notice != nil)
        #expect(store.read() == .found(.session(alice)))
        let renewed = store.apply(SessionChange(.renew(SessionSamples.tokens("x"), nil, revision: 7), in: "a"))
        #expect(renewed.result.record.session?.revision == 8 && renewed.notice != nil)
        try FileManager.default.removeItem(at: place)
        let kept = store.apply(SessionChange(.renew(SessionSamples.tokens("y"), nil, revision: 8), in: "a"))
        #expect(kept.notice == nil)
        #expect(FileSessionStore(folder: place).read() == .found(kept.result.record))
        #expect(kept.result.record.session?.revision == 9)
    }

    /// Puts something into the place of the file that cannot be read as a session, not even by an administrator.
    private static let obstacles: [@Sendable (URL) throws -> Void] = [
        { try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false) },
        { try Data("switchyard-session 2 0\nwhatever".utf8).write(to: $0) },
    ]

    @Test(arguments: obstacles.indices)
    func `A file that cannot be read does not end the session, and new tokens hold in memory`(index: Int) throws {
        let store = FileSessionStore(folder: folder.url)
        _ = store.apply(begin(alice))
        try FileManager.default.removeItem(at: folder.file)
        try Self.obstacles[index](folder.file)
        let before = store.mark
        let renewed = store.apply(SessionChange(.renew(SessionSamples.tokens("x"), nil, revision: 7), in: "a"))
        #expect(renewed.result.record.session?.revision == 8 && renewed.notice != nil)
        guard case .kept = renewed.result else { return #expect(Bool(false), "\(renewed.result)") }
        #expect(store.mark == before, "what is there stays")
        #expect(renewed.mark != before, "so that it is looked at again")
        guard case .unreadable = store.read() else { return #expect(Bool(false), "\(store.read())") }
        let again = store.apply(SessionChange(.renew(SessionSamples.tokens("y"), nil, revision: 8), in: "a"))
        #expect(again.result.record.session?.revision == 9)
        let late = store.apply(SessionChange(.renew(SessionSamples.tokens("z"), nil, revision: 7), in: "a"))
        #expect(late.result == .overtaken(again.result.record))
        // Somebody else's session, as soon as it can be read.
        try FileManager.default.removeItem(at: folder.file)
        let bob = SessionSamples.session("b", user: "bob")
        _ = FileSessionStore(folder: folder.url).apply(begin(bob))
        #expect(store.read() == .found(.session(bob)))
    }

    @Test(arguments: obstacles.indices)
    func `A person who leaves does so whatever stands in the place of the file`(index: Int) throws {
        let store = FileSessionStore(folder: folder.url)
        _ = store.apply(begin(alice))
        try FileManager.default.removeItem(at: folder.file)
        try Self.obstacles[index](folder.file)
        let byServer = store.apply(SessionChange(.signOut(SignOut(.byServer)), in: "b"))
        #expect(byServer.result == .overtaken(.session(alice)))
        let outcome = store.apply(SessionChange(.signOut(SignOut(.byUser)), in: "a"))
        #expect(outcome.result == .kept(.signedOut(SignOut(.byUser))) && outcome.notice == nil)
        #expect(FileSessionStore(folder: folder.url).read() == .found(.signedOut(SignOut(.byUser))))
        #expect(folder.names.contains("session.unreadable-1"))
    }

    /// A file whose name leaves no room for others beside it, so that it can be neither replaced nor renamed.
    private static let longName = String(repeating: "s", count: 252)

    @Test func `A sign-out that cannot replace the file outlasts a restart all the same`() throws {
        _ = FileSessionStore(folder: folder.url).apply(begin(alice))
        let file = folder.url.appendingPathComponent(Self.longName)
        try FileManager.default.moveItem(at: folder.file, to: file)
        let store = FileSessionStore(folder: folder.url, name: Self.longName)
        #expect(store.read() == .found(.session(alice)))
        let renewed = store.apply(SessionChange(.renew(SessionSamples.tokens("x"), nil, revision: 7), in: "a"))
        #expect(renewed.notice != nil, "nothing can be stored beside it")
        let end = SignOut(.byUser, wipesLocalData: true)
        let outcome = store.apply(SessionChange(.signOut(end), in: "a"))
        #expect(outcome.result == .kept(.signedOut(end)) && !outcome.isUndoneByRestart)
        #expect(store.read() == .found(.signedOut(end)))
        #expect(FileSessionStore(folder: folder.url, name: Self.longName).read() == .found(.signedOut(end)))
    }

    @Test func `A sign-out does not wait for ever for a process that holds the lock`() throws {
        let store = FileSessionStore(folder: folder.url)
        _ = store.apply(begin(alice))
        let stuck = try FileLock(folder.file.path + ".lock")
        let outcome = store.apply(SessionChange(.signOut(SignOut(.byUser)), in: "a"))
        #expect(outcome.result == .kept(.signedOut(SignOut(.byUser))) && outcome.notice == nil)
        stuck.release()
        #expect(FileSessionStore(folder: folder.url).read() == .found(.signedOut(SignOut(.byUser))))
    }

    @Test func `A session that can be neither replaced nor removed is reported as one that a restart brings back`()
        throws
    {
        _ = FileSessionStore(folder: folder.url).apply(begin(alice))
        let file = folder.url.appendingPathComponent(Self.longName)
        try FileManager.default.moveItem(at: folder.file, to: file)
        let store = FileSessionStore(folder: folder.url, name: Self.longName)
        _ = store.read()
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(
            at: file.appendingPathComponent("inside"), withIntermediateDirectories: true)
        let outcome = store.apply(SessionChange(.signOut(SignOut(.byUser)), in: "a"))
        #expect(outcome.result == .kept(.signedOut(SignOut(.byUser))))
        #expect(outcome.isUndoneByRestart && outcome.notice != nil)
        try FileManager.default.removeItem(at: file)
        #expect(!store.apply(SessionChange(.signOut(SignOut(.byUser)), in: nil)).isUndoneByRestart)
    }

    @Test func `What another process wrote counts more than what could not be written`() throws {
        let place = folder.url
        try Data().write(to: place)
        let store = FileSessionStore(folder: place)
        _ = store.apply(begin(alice))
        try FileManager.default.removeItem(at: place)
        let bob = SessionSamples.session("b", user: "bob")
        _ = FileSessionStore(folder: place).apply(begin(bob))
        #expect(store.read() == .found(.session(bob)))
    }

    @Test func `The lease is one's alone until it is released`() async throws {
        let (first, second) = (FileSessionStore(folder: folder.url), FileSessionStore(folder: folder.url))
        let clock = ManualClock()
        let lease = try await first.lease(clock)
        let waiting = Task { try await second.lease(clock) }
        try await eventually("the second waits") { clock.sleeperCount == 1 }
        // A short change does not wait for a long refresh.
        #expect(second.apply(begin(alice)).result == .kept(.session(alice)))
        lease.release()
        clock.advance(by: .seconds(1))
        try await waiting.value.release()
    }

    @Test func `Waiting for a lease ends with an error that is worth a retry`() async throws {
        let (first, second) = (FileSessionStore(folder: folder.url), FileSessionStore(folder: folder.url))
        let clock = ManualClock()
        let lease = try await first.lease(clock)
        let outcome = Promise<AuthError?>()
        let waiting = Task {
            do throws(AuthError) {
                _ = try await second.lease(clock)
                outcome.resolve(nil)
            } catch {
                outcome.resolve(error)
            }
        }
        while outcome.present == nil {
            try await eventually("it sleeps, or has given up") { clock.sleeperCount > 0 || outcome.present != nil }
            clock.advance(by: .seconds(1))
        }
        await waiting.value
        let error = await outcome.value ?? nil
        #expect(error?.code == .localStore && error?.isRetryable == true)
        #expect(clock.now.offset >= .seconds(75))
        lease.release()
    }
}
