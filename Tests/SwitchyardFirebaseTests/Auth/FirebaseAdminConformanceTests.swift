import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardProviderHTTP
import SwitchyardTestRuns
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Administration of accounts, on a local Firebase and on scripted answers.
@Suite struct FirebaseAdminConformanceTests {
    static let run = ConformanceRun("firebase admin", AdminConformance.all, for: LocalAdminHarness.features) {
        try LocalAdminHarness()
    }

    @Test(.beside(run), arguments: run.checks)
    func `Firebase's administration of accounts`(_ check: AdminCheck) async throws {
        try await Self.run.outcome(of: check)
    }

    @Test func `What Firebase's administration declares and skips`() async throws {
        #expect(try await LocalAdminHarness().makeAdminClient().capabilities == LocalAdminHarness.features.capabilities)
        // An emulator has one key, which everybody knows, and checks no hashes of others.
        #expect(
            Set(AdminConformance.leftOut(for: LocalAdminHarness.features)) == [
                "a key that is not the project's opens nothing", "a cancelled call takes over no one",
                "a password that bcrypt has hashed lets in after the import",
                "a password that PBKDF2 has hashed lets in after the import",
                "an account is imported with everything it has",
                "an account without a hash has no password, whatever else is said", "an imported password is replaced",
                "a known ID is refused by itself, and its account stays",
                "a known address is refused by itself, and stays whose it is", "importing no one does nothing",
                "hashes of another kind are refused, and take over no one",
                "hashes of every declared kind are taken over, and let no one else in",
            ])
    }

    // MARK: What is sent

    private static func client(
        _ credential: FirebaseCredential, _ answers: [String: JSON]
    ) async throws -> (any AdminClient, AnsweringTransport) {
        let transport = AnsweringTransport { request throws(TransportError) in
            let path = request.url.replacingOccurrences(
                of: "https://identitytoolkit.googleapis.com/v1/projects/demo/", with: "")
            guard let answer = answers[path] else { return .text("{}") }
            return .text(answer.text())
        }
        let configuration = FirebaseConfiguration(project: "demo", credential: credential)
        let module = FirebaseModule(configuration, environment: [:]) { transport }
        let context = ModuleContext(clock: ImpatientClock(), now: { Timestamp(microseconds: 1_700_000_000_000_000) })
        return (try await module.makeServerClientFactory(context).makeAdminClient(), transport)
    }

    private static let token = FirebaseCredential.tokens { _ in .init("project's", expiresAt: .distantFuture) }

    @Test func `Imported accounts go by the kind of their hashes, and those that are refused are named`() async throws {
        let (client, transport) = try await Self.client(
            Self.token,
            [
                "accounts:batchCreate": [
                    "error": [["index": 1, "message": "localId belongs to an existing account - can not overwrite."]]
                ]
            ])
        let hash = PasswordHash.pbkdf2SHA256(hash: "aGFzaA==", salt: "c2FsdA==", rounds: 1000)
        let failures = try await client.importAccounts([
            ImportedAccount(id: "a", NewAccount(email: "a@example.com", claims: ["role": "x"]), passwordHash: hash),
            ImportedAccount(id: "b", NewAccount(email: "b@example.com"), passwordHash: hash),
            ImportedAccount(id: "c", NewAccount(isDisabled: true), passwordHash: .bcrypt("$2b$10$abc")),
        ])
        #expect(failures.mapValues(\.code) == ["b": .identityInUse])
        let bodies = try transport.requests.map { try JSON(parsing: $0.body) }
        #expect(bodies.count == 2)
        #expect(bodies[0]["hashAlgorithm"] == "PBKDF2_SHA256" && bodies[0]["rounds"] == 1000)
        #expect(bodies[0]["users"]?[0]?["passwordHash"] == "aGFzaA" && bodies[0]["users"]?[0]?["salt"] == "c2FsdA")
        #expect(bodies[0]["users"]?[0]?["customAttributes"] == #"{"role":"x"}"#)
        #expect(bodies[1]["hashAlgorithm"] == "BCRYPT")
        #expect(
            bodies[1]["users"]?[0]?["passwordHash"]?.string == Base64.encode(Array("$2b$10$abc".utf8), alphabet: .url))
        #expect(bodies[1]["users"]?[0]?["disabled"] == true)
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer project's" })
    }

    @Test func `Accounts of another project of Firebase are imported with the settings that they were exported with`()
        async throws
    {
        let (client, transport) = try await Self.client(Self.token, ["accounts:batchCreate": [:]])
        let settings = PasswordHash.ScryptSettings(signerKey: "/+8=", saltSeparator: "Bw==")
        var (wrong, large) = (settings, settings)
        wrong.signerKey = "?"
        large.memoryCost = 15
        let hashes: [(String, PasswordHash)] = [
            ("a", .keyedScrypt(hash: "+/8=", salt: "c2FsdA==", settings)),
            ("b", .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", settings)),
            ("c", .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", wrong)),
            ("d", .keyedScrypt(hash: "aGFzaA==", salt: "c2FsdA==", large)),
            ("e", .argon2("$argon2id$v=19$m=32,t=3,p=2$SFVpOWJ0eXhjRzVkdGN1RQ$RXnb8rh7LaDcn07xsssqqg")),
        ]
        let failures = try await client.importAccounts(
            hashes.map { ImportedAccount(id: $0, NewAccount(email: "\($0)@example.com"), passwordHash: $1) })
        #expect(failures.mapValues(\.code) == ["c": .invalidArgument, "d": .invalidArgument, "e": .unsupported])
        let bodies = try transport.requests.map { try JSON(parsing: $0.body) }
        #expect(bodies.count == 1 && bodies[0]["users"]?.array?.count == 2)
        #expect(bodies[0]["hashAlgorithm"] == "SCRYPT" && bodies[0]["signerKey"] == "_-8")
        #expect(bodies[0]["saltSeparator"] == "Bw" && bodies[0]["rounds"] == 8 && bodies[0]["memoryCost"] == 14)
        #expect(bodies[0]["users"]?[0]?["passwordHash"] == "-_8" && bodies[0]["users"]?[0]?["salt"] == "c2FsdA")
    }

    @Test func `An account that cannot be sent is named, and stops none of the others`() async throws {
        let (client, transport) = try await Self.client(Self.token, ["accounts:batchCreate": [:]])
        let good = PasswordHash.pbkdf2SHA256(hash: "aGFzaA==", salt: "c2FsdA==", rounds: 1000)
        let failures = try await client.importAccounts([
            ImportedAccount(id: "a", NewAccount(email: "a@example.com"), passwordHash: .bcrypt("$2b$10$abc")),
            ImportedAccount(id: "b", NewAccount(email: "b@example.com"), passwordHash: good),
            ImportedAccount(
                id: "c", NewAccount(email: "c@example.com"),
                passwordHash: .pbkdf2SHA256(hash: "?", salt: "c2FsdA==", rounds: 1000)),
            ImportedAccount(id: "d", NewAccount(claims: ["in": .bytes(Data([1]))])),
            ImportedAccount(id: "e", NewAccount(email: "e@example.com"), passwordHash: good),
        ])
        #expect(failures.mapValues(\.code) == ["c": .invalidArgument, "d": .invalidArgument])
        let sent = try transport.requests.flatMap { try JSON(parsing: $0.body)["users"]?.array ?? [] }
        #expect(sent.map { $0["localId"]?.string } == ["a", "b", "e"])
    }

    @Test(.enabled(if: OutsideTool.openssl.isInstalled, "openssl is not installed"))
    func `A custom token is signed by the service account, and says whose it is`() async throws {
        let key = try OpenSSLKey(.rsa)
        let file = CredentialBed.serviceAccount(key.pem)
        let (client, _) = try await Self.client(.keyFile(text: Secret(file.text())), [:])
        #expect(client.capabilities.customTokens)
        let token = try JSONWebToken(try await client.customToken(for: "alice", claims: ["premium": true]))
        #expect(try key.verifies(token.signature, of: token.signed))
        #expect(token.algorithm == "RS256" && token.keyID == "key 1")
        #expect(token.claims["uid"] == "alice" && token.claims["claims"]?["premium"] == true)
        #expect(
            token.claims["iss"] == "robot@demo.iam.gserviceaccount.com" && token.claims["sub"] == token.claims["iss"])
        #expect(token.claims["iat"] == 1_700_000_000 && token.claims["exp"] == 1_700_003_600)
        #expect(
            token.claims["aud"]
                == "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit")
        // Without a key nothing can be signed.
        let (other, _) = try await Self.client(Self.token, [:])
        #expect(!other.capabilities.customTokens)
        let error = await #expect(throws: AuthError.self) { try await other.customToken(for: "alice") }
        #expect(error?.code == .unsupported && error?.message.contains("service account's key file") == true)
    }

    @Test func `An account whose claims are refused is not left half made`() async throws {
        let transport = AnsweringTransport { request throws(TransportError) in
            if request.url.hasSuffix("/accounts") { return .text(#"{"localId":"x"}"#) }
            if request.url.hasSuffix(":update") {
                return .text(#"{"error":{"code":400,"message":"FORBIDDEN_CLAIM : aud"}}"#, status: 400)
            }
            return .text("{}")
        }
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", credential: Self.token), environment: [:]
        ) { transport }
        let client = try await module.makeServerClientFactory(ModuleContext()).makeAdminClient()
        let error = await #expect(throws: AuthError.self) {
            try await client.create(NewAccount(email: "a@example.com", claims: ["aud": "x"]))
        }
        #expect(error?.code == .invalidArgument)
        #expect(transport.requests.last?.url.hasSuffix("accounts:delete") == true)
    }

    @Test func `An account whose creation is cancelled on the way is deleted again`() async throws {
        let place = Mutex<Task<ManagedAccount, any Error>?>(nil)
        let sent = Mutex<[String]>([])
        let transport = AnsweringTransport { request throws(TransportError) in
            // Like any real transport, it sends nothing for a task that has been cancelled.
            if Task.isCancelled { throw TransportError(.cancelled, "the call was cancelled") }
            sent.withLock { $0.append(request.url) }
            if request.url.hasSuffix("/accounts") { return .text(#"{"localId":"x"}"#) }
            if request.url.hasSuffix(":update") {
                place.withLock { $0 }?.cancel()
                throw TransportError(.cancelled, "the call was cancelled")
            }
            return .text("{}")
        }
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", credential: Self.token), environment: [:]
        ) { transport }
        let client = try await module.makeServerClientFactory(ModuleContext()).makeAdminClient()
        let started = Gate()
        let task = Task<ManagedAccount, any Error> {
            await started.wait()
            return try await client.create(NewAccount(email: "a@example.com", claims: ["plan": "free"]))
        }
        place.withLock { $0 = task }
        started.open()
        await #expect(throws: AuthError.self) { try await task.value }
        let ends = sent.withLock { $0 }.map { $0.split(separator: "/").last.map(String.init) }
        #expect(ends == ["accounts", "accounts:update", "accounts:delete"])
    }

    @Test func `An account that can be neither completed nor deleted is named`() async throws {
        let transport = AnsweringTransport { request throws(TransportError) in
            if request.url.hasSuffix("/accounts") { return .text(#"{"localId":"x-17"}"#) }
            return .text(#"{"error":{"code":400,"message":"FORBIDDEN_CLAIM : aud"}}"#, status: 400)
        }
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", credential: Self.token), environment: [:]
        ) { transport }
        let client = try await module.makeServerClientFactory(ModuleContext()).makeAdminClient()
        let error = await #expect(throws: AuthError.self) {
            try await client.create(NewAccount(email: "a@example.com", claims: ["aud": "x"]))
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("“x-17”, exists without") == true)
    }

    @Test func `A page of a thousand accounts arrives, however much each of them has`() async throws {
        let claims = #"{"notes":"\#(String(repeating: "x", count: 980))"}"#
        let photo = "https://photos.example.com/" + String(repeating: "p", count: 500)
        let users = (0..<1000).map { number -> JSON in
            [
                "localId": .string("user-\(number)"), "customAttributes": .string(claims), "photoUrl": .string(photo),
            ]
        }
        let answer = JSON.object(["users": .array(users)]).text()
        #expect(answer.utf8.count > 1 << 20)
        let transport = ScriptedTransport([
            .on(
                .get, "https://identitytoolkit.googleapis.com/v1/projects/demo/accounts:batchGet?maxResults=1000",
                .json(answer))
        ])
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", credential: Self.token), environment: [:]
        ) { transport }
        let client = try await module.makeServerClientFactory(ModuleContext()).makeAdminClient()
        let page = try await client.accountPage(after: nil, limit: 1000)
        #expect(page.accounts.count == 1000 && page.accounts.last?.id == "user-999")
        try transport.verify()
    }

    @Test func `A credential without the role is reported as such`() async throws {
        let transport = AnsweringTransport { _ throws(TransportError) in
            .text(#"{"error":{"code":403,"message":"PERMISSION_DENIED","status":"PERMISSION_DENIED"}}"#, status: 403)
        }
        let module = FirebaseModule(
            FirebaseConfiguration(project: "demo", credential: Self.token), environment: [:]
        ) { transport }
        let client = try await module.makeServerClientFactory(ModuleContext()).makeAdminClient()
        let error = await #expect(throws: AuthError.self) { try await client.account("alice") }
        #expect(error?.code == .unauthenticated)
        #expect(error?.message.contains("Firebase Authentication Admin") == true)
    }
}
