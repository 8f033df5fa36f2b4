import Foundation
import Switchyard
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Accounts, files and messages from servers whose every answer may be damaged, late, another call's or missing.
@Suite struct ServiceLieTests {
    // MARK: Accounts

    @Test(.beside(accountsRun)) func `Lies about accounts are errors, and no one is made up`() async throws {
        try await Self.accountsRun.value
    }

    private static let accountsRun: SideRun<Int, Void> = SideRun { try await ServiceLieTests().accounts() }

    private func accounts() async throws {
        let firebase = try LocalFirebase()
        var endpoints: Set<String> = []
        for transport in try await sideBySide(LyingRun.seeds(40), { try await accounts($0, firebase) }) {
            endpoints.formUnion(transport.endpoints)
        }
        await firebase.stop()
        #expect(
            isPart(
                [
                    ":signUp", ":signInWithPassword", ":lookup", ":update", ":delete", ":sendOobCode", ":signInWithIdp",
                    "POST token",
                ], of: endpoints), "\(endpoints.sorted())")
    }

    private func accounts(_ seed: UInt64, _ firebase: LocalFirebase) async throws -> LyingTransport {
        var run = LyingRun(seed)
        let transport = run.transport
        let configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "any", emulators: .init(auth: firebase.host),
            usesEmulatorVariables: false)
        let client = try FirebaseAuthAdapter(
            FirebaseModule(configuration, environment: [:]) { transport }.clientContext(ModuleContext(clock: run.clock))
        )
        let password = Secret(LyingRun.secret)
        let emails = (0..<2).map { "u\($0)-\(seed)@example.com" }
        for _ in 0..<14 {
            let email = run.random.pick(emails)
            let operation = run.random.int(0..<9)
            await run.call("operation \(operation)") { () async throws(AuthError) in
                switch operation {
                case 0: _ = try await client.signUp(email: email, password: password)
                case 1, 2: _ = try await client.signIn(email: email, password: password)
                case 3: _ = try await client.accessToken(refreshing: true)
                case 4: _ = try await client.reloadUser()
                case 5: _ = try await client.updateAccount(AccountChanges(displayName: "A"))
                case 6: try await client.sendPasswordReset(to: email)
                case 7:
                    let token = #"{"sub":"g-\#(email)","email":"\#(email)","email_verified":true}"#
                    _ = try await client.signIn(with: .identityToken(.google, Secret(token)))
                default: try await client.deleteAccount()
                }
            }
        }
        transport.becomeHonest()
        let email = "honest-\(seed)@example.com"
        await run.call("an honest sign-up") { () async throws(AuthError) in
            let user = try await client.signUp(email: email, password: password).get()
            #expect(user.email == email, "seed \(seed)")
            let token = try await client.accessToken()
            #expect(token.userID == user.id, "seed \(seed)")
            try await client.signOut()
            let state = await client.state
            #expect(!state.isSignedIn, "seed \(seed)")
        }
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }

    // MARK: Files

    @Test(.beside(filesRun))
    func `Lies about files are errors, and contents that arrive are the file's`() async throws {
        try await Self.filesRun.value
    }

    private static let filesRun: SideRun<Int, Void> = SideRun { try await ServiceLieTests().files() }

    private func files() async throws {
        var options = LocalFirebaseOptions()
        options.allowsEverything = true
        let firebase = try LocalFirebase(options)
        let folder = ScratchSpace.url.appendingPathComponent("lies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var endpoints: Set<String> = []
        for transport in try await sideBySide(LyingRun.seeds(15), { try await files($0, firebase, folder) }) {
            endpoints.formUnion(transport.endpoints)
        }
        await firebase.stop()
        try FileManager.default.removeItem(at: folder)
        #expect(
            isPart(
                [
                    "POST o", "GET o", "GET o media", "PATCH o", "DELETE o", "upload: start", "upload: upload",
                    "upload: upload, finalize", "upload: query",
                ], of: endpoints), "\(endpoints.sorted())")
    }

    /// Goes in three parts.
    private static let large = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func files(_ seed: UInt64, _ firebase: LocalFirebase, _ folder: URL) async throws -> LyingTransport {
        var run = LyingRun(seed)
        let transport = run.transport
        let configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "any", bucket: "lies\(seed).appspot.com",
            emulators: .init(storage: firebase.host), usesEmulatorVariables: false)
        let place = folder.appendingPathComponent("\(seed)")
        let client = try FirebaseFileStorageAdapter(
            FirebaseModule(configuration, environment: [:]) { transport }
                .clientContext(ModuleContext(clock: run.clock, stateFolder: place)))
        let (small, large) = (Data("small".utf8), Self.large)
        try large.write(to: place.appendingPathComponent("large"))
        func read(_ path: FilePath, _ contents: Data) async {
            await run.call("a download") { () async throws(FileStorageError) in
                let came = try await client.data(at: path)
                // What a download says is whole has its sums compared, so it is what was stored; nothing else says so, though,
                // when the lie is in the head.
                #expect(came == contents || came.isEmpty || came.count != contents.count, "seed \(seed)")
            }
        }
        for number in 0..<10 {
            let operation = run.random.int(0..<9)
            switch operation {
            case 0:
                await run.call("a small upload") { () async throws(FileStorageError) in
                    try await client.put(small, at: "f/small")
                }
            case 1:
                await run.call("a large upload") { () async throws(FileStorageError) in
                    _ = try await client.upload(.file(place.appendingPathComponent("large")), to: "f/large").result()
                }
            case 2:
                await run.call("a streamed upload") { () async throws(FileStorageError) in
                    let source = UploadSource.stream(length: nil) {
                        AsyncThrowingStream<Data, any Error> { continuation in
                            for start in stride(from: 0, to: large.count, by: 100_000) {
                                continuation.yield(large[start..<start + 100_000])
                            }
                            continuation.finish()
                        }
                    }
                    _ = try await client.upload(source, to: "f/large").result()
                }
            case 3: await read("f/small", small)
            case 4: await read("f/large", large)
            case 5:
                await run.call("a download to a file") { () async throws(FileStorageError) in
                    _ = try await client.download("f/large", to: place.appendingPathComponent("copy\(number)")).result()
                    let copy = try? Data(contentsOf: place.appendingPathComponent("copy\(number)"))
                    #expect(copy == large, "seed \(seed)")
                }
            case 6:
                await run.call("a list") { () async throws(FileStorageError) in _ = try await client.list("f") }
            case 7:
                await run.call("a change") { () async throws(FileStorageError) in
                    _ = try await client.updateMetadata(of: "f/small", FileMetadataChanges(custom: ["a": "b"]))
                }
            default:
                await run.call("a deletion") { () async throws(FileStorageError) in try await client.delete("f/small") }
            }
        }
        transport.becomeHonest()
        await run.call("an honest upload") { () async throws(FileStorageError) in
            try await client.put(small, at: "f/honest")
            let came = try await client.data(at: "f/honest")
            #expect(came == small, "seed \(seed)")
        }
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }

    // MARK: Messages

    @Test(.beside(messagesRun)) func `Lies about registrations and messages are errors`() async throws {
        try await Self.messagesRun.value
    }

    private static let messagesRun: SideRun<Int, Void> = SideRun { try await ServiceLieTests().messages() }

    private func messages() async throws {
        let harness = try LocalMessagingHarness()
        var endpoints: Set<String> = []
        for transport in try await sideBySide(LyingRun.seeds(40), { try await messages($0, harness) }) {
            endpoints.formUnion(transport.endpoints)
        }
        await harness.firebase.stop()
        #expect(
            isPart(
                [
                    "POST installations", "DELETE installations", ":generate", "POST registrations",
                    "DELETE registrations", ":subscribe", ":unsubscribe", ":send",
                ], of: endpoints), "\(endpoints.sorted())")
    }

    private func messages(_ seed: UInt64, _ harness: LocalMessagingHarness) async throws -> LyingTransport {
        var run = LyingRun(seed)
        let transport = run.transport
        let time = BedTime()
        let client = try FirebaseMessagingAdapter(
            FirebaseModule(harness.configuration, environment: [:]) { transport }.clientContext(
                ModuleContext(clock: run.clock, now: { Timestamp(microseconds: time.value * 1_000_000) })),
            hasPushService: true)
        let sender = try FirebaseMessageSender(harness.configuration, transport: transport, clock: run.clock) { _ in
            Secret("ya29.\(LyingRun.secret)")
        }
        let push = harness.platformToken()
        await run.call("a push token") { () async throws(MessagingError) in try await client.setPlatformToken(push) }
        for _ in 0..<14 {
            let operation = run.random.int(0..<8)
            if run.random.chance(20) { time.value += 7 * 86_400 }
            await run.call("operation \(operation)") { () async throws(MessagingError) in
                switch operation {
                case 0, 1: _ = try await client.token()
                case 2: try await client.subscribe(to: "news")
                case 3: try await client.unsubscribe(from: "news")
                case 4: try await client.deleteToken()
                case 5: try await client.setPlatformToken(harness.platformToken())
                case 6: try await sender.send(FirebaseMessage(to: .topic("news"), title: "A"))
                default: try await sender.send(FirebaseMessage(to: .device(try await client.token()), title: "A"))
                }
            }
        }
        transport.becomeHonest()
        await run.call("an honest registration") { () async throws(MessagingError) in
            _ = try await client.token()
            try await sender.send(FirebaseMessage(to: .topic("news"), title: "A"))
        }
        await run.call("the end") { () async throws(Never) in await client.shutDown() }
        return transport
    }

    private func isPart(_ wanted: Set<String>, of seen: Set<String>) -> Bool {
        LyingRun.isPart || seen.isSuperset(of: wanted)
    }
}
