import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// Where tokens of the project come from, and where they go.
@Suite struct FirebaseCredentialTests {
    private static func form(_ request: HTTPRequest) -> [String: String] {
        let pairs = FormCoding.decode(String(decoding: request.body, as: UTF8.self)) ?? []
        return Dictionary(pairs.map { ($0.name, $0.value) }) { $1 }
    }

    // MARK: Kinds

    @Test(.enabled(if: OutsideTool.openssl.isInstalled, "openssl is not installed"))
    func `A service account's assertion is signed by its key, and its token asks`() async throws {
        let (bed, key) = (try CredentialBed(), try OpenSSLKey(.rsa))
        let path = try bed.file("key.json", CredentialBed.serviceAccount(key.pem))
        let client = try await bed.client(.keyFile(path))
        #expect(try await client.document("a/1").exists == false)
        let request = try #require(bed.asked.withLock { $0.first })
        #expect(request.url == "https://oauth2.example.com/token")
        let form = Self.form(request)
        #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        let token = try JSONWebToken(Secret(form["assertion"] ?? ""))
        #expect(token.algorithm == "RS256" && token.keyID == "key 1")
        #expect(token.claims["iss"] == "robot@demo.iam.gserviceaccount.com")
        #expect(token.claims["aud"] == "https://oauth2.example.com/token")
        #expect(token.claims["iat"]?.int64 == bed.clock.now.seconds)
        #expect(token.claims["exp"]?.int64 == bed.clock.now.seconds + 3600)
        #expect(token.claims["scope"]?.string?.contains("https://www.googleapis.com/auth/cloud-platform") == true)
        #expect(try key.verifies(token.signature, of: token.signed))
        #expect(bed.bearers.withLock { $0 } == ["Bearer token-1"])
        #expect(bed.projects.withLock { $0 } == [nil])
    }

    @Test func `A person's credential is refreshed, and names the project with each call`() async throws {
        let bed = try CredentialBed()
        let file: JSON = [
            "type": "authorized_user", "client_id": "id", "client_secret": "s3cret", "refresh_token": "again",
        ]
        let client = try await bed.client(.keyFile(text: Secret(file.text())))
        _ = try await client.document("a/1")
        let request = try #require(bed.asked.withLock { $0.first })
        #expect(request.url == "https://oauth2.googleapis.com/token")
        #expect(
            Self.form(request) == [
                "grant_type": "refresh_token", "client_id": "id", "client_secret": "s3cret", "refresh_token": "again",
            ])
        #expect(bed.projects.withLock { $0 } == ["demo"])
    }

    @Test func `A machine at Google is asked who it is, at the host that the environment names`() async throws {
        let bed = try CredentialBed()
        let client = try await bed.client(
            .applicationDefault, environment: ["GCE_METADATA_HOST": "127.0.0.1:1", "HOME": bed.folder.path])
        _ = try await client.document("a/1")
        let request = try #require(bed.asked.withLock { $0.first })
        #expect(request.url.hasPrefix("http://127.0.0.1:1/computeMetadata/v1/instance/service-accounts/default/token?"))
        #expect(request.headers["Metadata-Flavor"] == "Google")
    }

    @Test func `An identity from elsewhere is exchanged, and acts for a service account`() async throws {
        let bed = try CredentialBed()
        let subject = try bed.file("subject.json", ["value": "who I am"])
        func file(_ source: JSON, impersonates: Bool) -> Secret {
            var file: JSONObject = [
                "type": "external_account", "audience": "//iam/pool", "token_url": "https://sts.example.com/v1/token",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": source,
            ]
            if impersonates {
                file["service_account_impersonation_url"] = "https://iam.example.com/robot:generateAccessToken"
            }
            return Secret(JSON.object(file).text())
        }
        let format: JSON = ["type": "json", "subject_token_field_name": "value"]
        let sources: [JSON] = [
            ["file": .string(subject), "format": format],
            ["url": "http://127.0.0.1:1/subject", "headers": ["X-Who": "me"], "format": format],
        ]
        for (index, source) in sources.enumerated() {
            bed.asked.withLock { $0 = [] }
            _ = try await bed.client(.keyFile(text: file(source, impersonates: index == 1))).document("a/1")
            let asked = bed.asked.withLock { $0 }
            #expect(asked.count == [1, 3][index])
            let exchange = try #require(asked.first { $0.url == "https://sts.example.com/v1/token" })
            let form = Self.form(exchange)
            #expect(form["subject_token"] == "who I am" && form["audience"] == "//iam/pool")
            #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
            if index == 1 {
                #expect(asked[0].headers["X-Who"] == "me")
                #expect(asked[2].headers["Authorization"]?.hasPrefix("Bearer token-") == true)
            }
        }
    }

    @Test func `The default is the named file, then the one that gcloud has left`() async throws {
        let bed = try CredentialBed()
        func user(_ id: String) -> JSON {
            ["type": "authorized_user", "client_id": .string(id), "client_secret": "s", "refresh_token": "r"]
        }
        let named = try bed.file("named.json", user("named"))
        _ = try bed.file("application_default_credentials.json", user("left"))
        let folder = bed.folder.path
        for (environment, id) in [
            (["GOOGLE_APPLICATION_CREDENTIALS": named, "CLOUDSDK_CONFIG": folder], "named"),
            (["GOOGLE_APPLICATION_CREDENTIALS": "", "CLOUDSDK_CONFIG": folder], "left"),
        ] {
            _ = try await bed.client(.applicationDefault, environment: environment).document("a/1")
            #expect(bed.asked.withLock { $0.last.map { Self.form($0)["client_id"] } } == id)
        }
    }

    // MARK: Keeping

    @Test func `Many who ask at once share one token, until shortly before it runs out`() async throws {
        let bed = try CredentialBed()
        let client = try await bed.client(.applicationDefault, environment: ["GCE_METADATA_HOST": "h"])
        func readMany() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 { group.addTask { _ = try await client.document("a/1") } }
                try await group.waitForAll()
            }
        }
        try await readMany()
        #expect(bed.asked.withLock { $0.count } == 1)
        bed.clock.advance(3599 - 61)
        try await readMany()
        #expect(bed.asked.withLock { $0.count } == 1)
        bed.clock.advance(2)
        try await readMany()
        #expect(bed.asked.withLock { $0.count } == 2)
    }

    @Test func `A refused token is replaced once, and then the call fails`() async throws {
        let bed = try CredentialBed()
        let client = try await bed.client(.applicationDefault, environment: ["GCE_METADATA_HOST": "h"])
        _ = try await client.document("a/1")
        bed.server.withLock { $0.isLastRefused = true }
        _ = try await client.document("a/1")
        #expect(bed.bearers.withLock { $0 } == ["Bearer token-1", "Bearer token-1", "Bearer token-2"])
        bed.server.withLock { $0.refusal = .text(#"{"access_token":"wrong","expires_in":3599}"#) }
        bed.clock.advance(3600)
        let error = await #expect(throws: StorageError.self) { try await client.document("a/1") }
        #expect(error?.code == .unauthenticated)
        // The refused token and the new one: no further attempt would find a better one.
        #expect(bed.bearers.withLock { $0.count } == 3 + 2)
        #expect(error?.isRetryable == false)
    }

    @Test func `A refusal by Google is reported, and a mishap of its is tried again`() async throws {
        let bed = try CredentialBed()
        let client = try await bed.client(.applicationDefault, environment: ["GCE_METADATA_HOST": "h"])
        bed.server.withLock { $0.refusal = .text(#"{"error":"invalid_grant"}"#, status: 400) }
        let refused = await #expect(throws: StorageError.self) { try await client.document("a/1") }
        #expect(refused?.code == .unauthenticated && refused?.isRetryable == false, "\(refused as Any)")
        #expect(refused?.message.contains("does not accept Firebase's credential (invalid_grant)") == true)
        bed.server.withLock { $0.refusal = .text("", status: 503) }
        let failed = await #expect(throws: StorageError.self) { try await client.document("a/1") }
        #expect(failed?.code == .unavailable && failed?.isRetryable == true)
        #expect(failed?.message.contains("set GOOGLE_APPLICATION_CREDENTIALS") == true)
        #expect(bed.asked.withLock { $0.count } == 1 + 6)
    }

    @Test func `A source of the app's own is asked, and learns of a refusal`() async throws {
        let bed = try CredentialBed()
        let asked = Mutex<[Bool]>([])
        bed.server.withLock { $0.given = 7 }
        let client = try await bed.client(
            .tokens { isRefused in
                asked.withLock { $0.append(isRefused) }
                return .init(Secret(isRefused ? "token-7" : "token-6"), expiresAt: .distantFuture)
            })
        _ = try await client.document("a/1")
        #expect(asked.withLock { $0 } == [false, true])
        #expect(bed.bearers.withLock { $0 } == ["Bearer token-6", "Bearer token-7"])
    }

    // MARK: Whose calls

    @Test func `No one who is signed in, here or elsewhere, asks in the project's name`() async throws {
        let bed = try CredentialBed()
        let module = bed.module(.tokens { _ in .init("token-0", expiresAt: .distantFuture) })
        for (auth, bearer) in [
            (nil, "Bearer token-0"), (FixedAuthClient(provider: .firebase, user: nil) { _ in "" }, "Bearer token-0"),
            (FixedAuthClient(provider: .firebase) { _ in "alice's" }, "Bearer alice's"),
            (FixedAuthClient(provider: "elsewhere") { _ in "alice's" }, "none"),
        ] {
            let storage = try await module.makeStorageClient(ModuleContext(auth: auth, clock: ImpatientClock()))
            #expect(storage.capabilities.listCollections && storage.capabilities.recursiveDelete)
            _ = try? await storage.document("a/1", from: .server)
            #expect(bed.bearers.withLock { $0.last } == bearer)
            await storage.shutDown()
        }
    }

    @Test func `A caller's clients never carry the project's token`() async throws {
        let bed = try CredentialBed()
        let factory = try await bed.module(.tokens { _ in .init("token-0", expiresAt: .distantFuture) })
            .makeServerClientFactory(ModuleContext(clock: ImpatientClock()))
        let caller = VerifiedToken(
            token: "alice's", provider: .firebase, userID: "alice", issuer: "x", expiresAt: .distantFuture)
        let client = try factory.makeStorageClient(
            for: caller, auth: FixedAuthClient(provider: .firebase) { _ in "alice's" })
        _ = try? await client.document("a/1")
        #expect(Set(bed.bearers.withLock { $0 }) == ["Bearer alice's"])
        #expect(!client.capabilities.listCollections)
    }

    @Test func `An emulator gets the word that it takes, and no token is fetched`() async throws {
        let bed = try CredentialBed()
        for credential in [nil, FirebaseCredential.applicationDefault] {
            let module = bed.module(credential, environment: ["GCE_METADATA_HOST": "h"]) {
                $0.emulators.firestore = "127.0.0.1:1"
            }
            let context = try module.clientContext(ModuleContext())
            let tokens =
                context.tokens.credential
                ?? .ofEmulators(
                    transport: context.transport, clock: ImpatientClock())
            #expect(try await tokens.token(for: context.endpoints.firestore) == "owner")
        }
        #expect(bed.asked.withLock { $0.isEmpty })
    }

    @Test func `Without a credential no one acts for a real project, and the error says what is missing`() async throws
    {
        let factory = try await CredentialBed().module(nil).makeServerClientFactory(ModuleContext())
        let calls: [() throws -> Void] = [
            { _ = try factory.makeProjectStorageClient() }, { _ = try factory.makeAdminClient() },
        ]
        for call in calls {
            let error = #expect(throws: InfrastructureError.self) { try call() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("Set credential in Firebase's configuration") == true)
        }
    }
}
