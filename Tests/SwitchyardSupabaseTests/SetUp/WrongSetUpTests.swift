import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What is said, and how soon, where a project is not set up as it should be: each row of the article's table.
@Suite struct WrongSetUpTests {
    private static let good = FixedAuthClient.token(["sub": "alice", "role": "authenticated"])

    @Test(arguments: ["/rest/v1", "/auth/v1", "/storage/v1/object", "//"])
    func `An address with a path is refused before anything is asked`(_ path: String) async throws {
        let error = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.supabase(url: WrongSetUp.url + path, key: "sb_publishable_1"))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("“\(WrongSetUp.url)\(path)”, cannot be used") == true)
    }

    @Test(arguments: [200, 404, 403])
    func `A web page is no Supabase: calls, the queue and the observer say whose address to check`(
        _ status: Int
    ) async throws {
        let site = try await WrongSetUp { _ in .text("<!doctype html><title>Welcome</title>", status: status) }
        let read = await site.reading()
        #expect(read?.code == .unavailable)
        #expect(read?.message.hasPrefix("Reading “users/alice” failed: “\(WrongSetUp.url)” answered") == true)
        #expect(read?.message.contains("web page (HTTP \(status))") == true)
        #expect(read?.message.contains("Check that the url") == true)

        // A query finds nothing in the cache, which is no error; the reason for reading there is reported.
        #expect(try await site.backend.storage.documents(Query(in: "users")).metadata.isFromCache)
        #expect(
            site.log.kinds.contains {
                if case .readFromCache(let failure) = $0 { failure.message.contains("web page") } else { false }
            })
        let (queued, reported) = try await site.writing()
        #expect(queued?.message.contains("Check that the url") == true)
        #expect(reported?.message.hasPrefix("Writing “users/alice” is waiting") == true)
        #expect(reported?.message.contains("web page") == true)
        try await site.following {
            if case .reconnect(_, _, let failure?) = $0 { failure.message.contains("web page") } else { false }
        }
        let account = await site.signingIn()
        #expect(account?.code == .unavailable)
        #expect(account?.message.contains("Check that the url") == true, "\(account as Any)")
        try await site.end()
    }

    @Test func `A file call that meets a web page is tried again, and the observer gets the reason`() async throws {
        let site = try await WrongSetUp { _ in .text("<html>", status: 404) }
        let call = Task {
            await site.failure { backend throws(FileStorageError) in try await backend.files.metadata(of: "a.txt") }
        }
        try await eventually("an observer is notified", within: .seconds(10)) {
            site.log.kinds.contains {
                if case .retry(_, _, _, let failure) = $0 { failure.message.contains("web page") } else { false }
            }
        }
        call.cancel()
        _ = await call.value
        try await site.end()
    }

    @Test func `A key that names another project is refused before anything is asked`() async throws {
        let key = Secret(FixedAuthClient.token(["ref": "other", "role": "anon"]))
        let error = await #expect(throws: InfrastructureError.self) {
            try await Infrastructure(.supabase(url: WrongSetUp.url, key: key))
        }
        #expect(error?.message.contains("to the project “other”, but the url is that of “demo”") == true)
        let fitting = Secret(FixedAuthClient.token(["ref": "demo", "role": "anon"]))
        let backend = try await Infrastructure(.supabase(url: WrongSetUp.url, key: fitting))
        await backend.shutDown()
    }

    @Test func `Public and secret keys in each other's place are refused before anything is asked`() async throws {
        func token(_ role: String) -> Secret { Secret(FixedAuthClient.token(["ref": "demo", "role": .string(role)])) }
        for key in [token("service_role"), "sb_secret_1"] as [Secret] {
            let error = await #expect(throws: InfrastructureError.self) {
                try await Infrastructure(.supabase(url: WrongSetUp.url, key: key))
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("key is the project's secret key") == true, "\(error as Any)")
        }
        for key in [token("anon"), "sb_publishable_1"] as [Secret] {
            let turned = SupabaseConfiguration(url: WrongSetUp.url, key: token("anon"), serviceKey: key)
            let error = await #expect(throws: InfrastructureError.self) {
                try await Infrastructure(SupabaseModule(turned))
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("serviceKey is the project's publishable key") == true, "\(error as Any)")
        }
        let fitting = SupabaseConfiguration(url: WrongSetUp.url, key: token("anon"), serviceKey: "sb_secret_1")
        let backend = try await Infrastructure(SupabaseModule(fitting))
        await backend.shutDown()
    }

    @Test func `The key of another project is named by every client`() async throws {
        let refusal = #"{"message":"Invalid API key","hint":"Double check"}"#
        let site = try await WrongSetUp { _ in .text(refusal, status: 401) }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(read?.message.contains("“\(WrongSetUp.url)” does not accept the key. Copy") == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .unauthenticated && reported?.code == .unauthenticated)
        #expect(reported?.message.contains("does not accept the key") == true)
        let account = await site.signingIn()
        #expect(account?.code == .unauthenticated)
        #expect(account?.message.contains("does not accept the key (HTTP 401). Copy the publishable key") == true)
        let file = await site.failure { backend throws(FileStorageError) in
            try await backend.files.metadata(of: "a.txt")
        }
        #expect(file?.code == .unauthenticated)
        #expect(file?.message.contains("does not accept the key") == true)
        let shown = try await site.streaming()
        #expect(shown?.code == .unauthenticated)
        #expect(shown?.message.contains("does not accept the key. Copy") == true)
        try await site.end()
    }

    @Test func `Missing functions are named by reads, and by writes, which wait`() async throws {
        let missing = #"{"code":"PGRST202","details":null,"hint":null,"message":"Could not find the function"}"#
        let site = try await WrongSetUp { _ in .text(missing, status: 404) }
        let read = await site.reading()
        #expect(read?.code == .failedPrecondition)
        #expect(read?.message.contains("switchyard supabase install") == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .failedPrecondition)
        #expect(reported?.code == .failedPrecondition)
        #expect(reported?.message.hasPrefix("Writing “users/alice” is waiting") == true)
        #expect(reported?.message.contains("switchyard supabase install") == true)
        #expect(
            site.log.kinds.contains {
                if case .pendingWrites(1, let failure?) = $0 { failure.code == .failedPrecondition } else { false }
            })
        let shown = try await site.streaming()
        #expect(shown?.code == .failedPrecondition)
        #expect(shown?.message.contains("switchyard supabase install") == true)
        try await site.end()
    }

    @Test func `Missing policies refuse a write, by path and with the next step`() async throws {
        let refusal = #"{"code":"42501","details":"0","hint":null,"message":"not allowed"}"#
        let site = try await WrongSetUp(auth: .signedIn("alice"), hasFunctions: true) { _ in .text(refusal, status: 403)
        }
        let receipt = try await site.backend.storage.setDocument("users/alice", ["name": "Alice"])
        let error = await site.failure { _ throws(StorageError) in try await receipt.acknowledged() }
        #expect(error?.code == .unauthorized)
        #expect(
            error?.message.hasPrefix("Writing “users/alice” failed: The policies do not allow it. Check the rules")
                == true)
        try await eventually("it is reported") { site.log.refusals == ["users/alice: unauthorized"] }
        try await site.end()
    }

    @Test(arguments: [1, 7 << 20])
    func `A missing bucket is named by small uploads and by large ones`(_ size: Int) async throws {
        let site = try await WrongSetUp { request in
            request.url.hasSuffix("/upload/resumable")
                ? .text("Bucket not found", status: 404)
                : .text(#"{"statusCode":"404","error":"Bucket not found","message":"Bucket not found"}"#, status: 400)
        }
        let error = await site.failure { backend throws(FileStorageError) in
            try await backend.files.put(Data(count: size), at: "a.bin")
        }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("“a.bin”") == true)
        #expect(error?.message.contains("The bucket “photos” does not exist") == true)
        #expect(error?.message.contains("dashboard") == true)
        try await site.end()
    }

    @Test func `A bucket without policies says that they are missing`() async throws {
        let site = try await WrongSetUp { _ in
            .text(
                #"{"statusCode":"403","error":"Unauthorized","message":"new row violates row-level security policy"}"#,
                status: 400)
        }
        let error = await site.failure { backend throws(FileStorageError) in
            try await backend.files.put(Data([1]), at: "a.bin")
        }
        #expect(error?.code == .unauthorized)
        #expect(error?.message.contains("add policies to storage.objects") == true)
        try await site.end()
    }

    @Test func `A token without a role is named by reads, and by writes, which wait`() async throws {
        let token = FixedAuthClient.token(["sub": "alice"])
        let site = try await WrongSetUp(auth: FixedAuthClient { _ in token }) { _ in .text("[]") }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(
            read?.message.hasPrefix("Reading “users/alice” failed: The token of “elsewhere” lacks the claim “role”")
                == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .unauthenticated)
        #expect(reported?.message.contains("lacks the claim “role”. Have its issuer set it to “authenticated”") == true)
        #expect(site.transport.requests.isEmpty)
        let shown = try await site.streaming()
        #expect(shown?.code == .unauthenticated)
        #expect(shown?.message.contains("lacks the claim “role”") == true)
        try await site.end()
    }

    @Test func `An issuer that the project does not know is named, with where to add it`() async throws {
        let refusal = #"{"code":"PGRST301","details":null,"hint":null,"message":"No suitable key or wrong key type"}"#
        let site = try await WrongSetUp(auth: .signedIn("alice"), hasFunctions: true) { _ in .text(refusal, status: 401)
        }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(read?.message.contains("token of “elsewhere”") == true)
        #expect(read?.message.contains("Third-party auth") == true)
        let (queued, reported) = try await site.writing()
        #expect(queued?.code == .unauthenticated)
        #expect(reported?.message.contains("Third-party auth") == true)
        let shown = try await site.streaming()
        #expect(shown?.code == .unauthenticated)
        #expect(shown?.message.contains("Third-party auth") == true)
        try await site.end()
    }

    @Test(arguments: [(-7300, "2 hours behind"), (200, "3 minutes ahead")])
    func `A clock that is off is found by the server's time`(_ offset: Int64, _ words: String) async throws {
        let refusal = #"{"code":"PGRST303","details":null,"hint":null,"message":"JWT issued at future"}"#
        let now = Timestamp(microseconds: (784_111_777 + offset) * 1_000_000)
        let site = try await WrongSetUp(auth: .signedIn("alice"), hasFunctions: true, now: { now }) { _ in
            .text(refusal, status: 401, headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        let read = await site.reading()
        #expect(read?.code == .unauthenticated)
        #expect(read?.message.contains("This device's clock is \(words). Set it") == true, "\(read as Any)")
        try await site.end()
    }

    @Test func `A project that does not exist has no address, and that is said of reads and writes`() async throws {
        let site = try await WrongSetUp { _ throws(TransportError) in
            throw TransportError(
                .hostNotFound, "the host name “demo.supabase.co” could not be resolved", isRetryable: true)
        }
        let read = await site.reading()
        #expect(read?.code == .unavailable)
        #expect(read?.message.contains("“demo.supabase.co” could not be resolved") == true)
        let (queued, _) = try await site.writing()
        #expect(queued?.message.contains("could not be resolved") == true)
        let shown = try await site.streaming()
        #expect(shown?.code == .unavailable)
        #expect(shown?.message.contains("could not be resolved") == true)
        try await site.end()
    }

    @Test func `Where realtime is switched off, an observer is notified that live queries poll`() async throws {
        let stub = try RealtimeStub()
        stub.refuseJoins("RealtimeDisabledForTenant: Realtime disabled for this tenant")
        let site = try await WrongSetUp(url: stub.url, hasFunctions: true, sockets: CurlTransport()) { _ in
            .text("", status: 503)
        }
        try await site.following {
            if case .notice(let text) = $0 { text.contains("Realtime is switched off for the project") } else { false }
        }
        let message = MessagingError(RealtimeFailure(.refused, "RealtimeDisabledForTenant: x"))
        #expect(message.code == .unsupported && message.message.contains("Switch it on in the dashboard"))
        try await site.end()
        await stub.stop()
    }
}
