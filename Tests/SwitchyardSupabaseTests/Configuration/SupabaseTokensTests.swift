import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// In whose name a project is asked, and what is said of sessions that it cannot use.
@Suite struct SupabaseTokensTests {
    private static let good = FixedAuthClient.token(["sub": "alice", "role": "authenticated"])
    private static let roleless = FixedAuthClient.token(["sub": "alice"])
    private static let rpc = "https://demo.supabase.co/rest/v1/rpc/switchyard_get"

    private func service(
        _ auth: (any AuthClient)?, key: Secret = "sb_publishable_1", serviceKey: Secret? = nil,
        _ script: [ScriptedExchange]
    ) throws -> (ScriptedTransport, PostgRESTService) {
        let transport = ScriptedTransport(script)
        let tokens = SupabaseTokens(key: key, serviceKey: serviceKey, auth: auth)
        return (
            transport,
            PostgRESTService(
                project: try SupabaseProject("https://demo.supabase.co"), tokens: tokens, transport: transport)
        )
    }

    @Test(
        arguments: [
            ("sb_publishable_1", nil, "sb_publishable_1", nil),
            ("eyJh.eyJi.c", nil, "eyJh.eyJi.c", "Bearer eyJh.eyJi.c"),
            ("sb_publishable_1", "sb_secret_1", "sb_secret_1", nil),
            ("sb_publishable_1", "eyJx.eyJy.z", "eyJx.eyJy.z", "Bearer eyJx.eyJy.z"),
        ] as [(String, String?, String, String?)])
    func `A key of the current form is never sent as a token`(
        _ key: String, _ serviceKey: String?, _ sentKey: String, _ bearer: String?
    ) async throws {
        let (transport, service) = try service(
            nil, key: Secret(key), serviceKey: serviceKey.map { Secret($0) }, [.on(.post, Self.rpc, .json("[]"))])
        #expect(await failure(of: service) == nil)
        #expect(transport.requests[0].request.headers["apikey"] == sentKey)
        #expect(transport.requests[0].request.headers["Authorization"] == bearer)
    }

    @Test func `A session that cannot be read now is not one that is over`() async throws {
        let auth = FixedAuthClient { _ throws(AuthError) in
            throw AuthError(.localStore, "The device is locked.", isRetryable: true)
        }
        let (transport, service) = try service(auth, [])
        #expect(await failure(of: service)?.isRetryable == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `A stream does not ask in the name of somebody who has signed in since`() async throws {
        let current = Mutex("alice")
        let transport = ScriptedTransport([])
        let tokens = SupabaseTokens(key: "key", issuer: .supabase) { _ throws(AuthError) in
            AccessToken(value: Secret(Self.good), expiresAt: .distantFuture, userID: current.withLock { $0 })
        }
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: tokens, transport: transport)
        let reader = try await service.reader()
        current.withLock { $0 = "bob" }
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await service.call("switchyard_changes", [:], isIdempotent: true, as: reader)
        } catch {
            failure = error
        }
        #expect(failure?.code == .unavailable && failure?.isRetryable == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `A series of calls, and new tokens for refused ones, are one person's`() async throws {
        let current = Mutex("alice")
        let tokens = SupabaseTokens(key: "key", issuer: .supabase) { _ throws(AuthError) in
            AccessToken(value: Secret(Self.good), expiresAt: .distantFuture, userID: current.withLock { $0 })
        }
        let refused = ScriptedExchange.on(
            .post, Self.rpc,
            check: { _ in
                current.withLock { $0 = "bob" }
                return nil
            }, .json(#"{"code":"PGRST303","message":"JWT expired"}"#, status: 401))
        let transport = ScriptedTransport([refused])
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: tokens, transport: transport)
        let bound = try await service.bound()
        #expect(await failure(of: service)?.code == .sessionChanged)
        let error = await failure(of: bound)
        #expect(error?.code == .sessionChanged && error?.isRetryable == false)
        try transport.verify()
    }

    @Test func `A session counts more than the service key, which stays at home then`() async throws {
        let auth = FixedAuthClient { _ in Self.good }
        let (transport, service) = try service(
            auth, serviceKey: "sb_secret_1", [.on(.post, Self.rpc, .json("[]"))])
        #expect(await failure(of: service) == nil)
        #expect(transport.requests[0].request.headers["apikey"] == "sb_publishable_1")
        #expect(transport.requests[0].request.headers["Authorization"] == "Bearer \(Self.good)")
    }

    @Test func `Another provider's session without a role is refused before it is sent`() async throws {
        let auth = FixedAuthClient { _ in Self.roleless }
        let (transport, service) = try service(auth, [])
        let error = await failure(of: service)
        #expect(error?.code == .unauthenticated)
        #expect(error?.isRetryable == false)
        #expect(error?.message.contains("“role”") == true)
        #expect(error?.message.contains("“elsewhere”") == true)
        #expect(error?.underlying as? SupabaseTokenProblem == .missingClaim("role"))
        #expect(transport.requests.isEmpty)
        #expect(auth.requests == [false, true], "the issuer may have been told meanwhile to say more")
    }

    @Test func `A role that came with the refresh is used`() async throws {
        let auth = FixedAuthClient { refreshing in refreshing ? Self.good : Self.roleless }
        let (transport, service) = try service(auth, [.on(.post, Self.rpc, .json("[]"))])
        #expect(await failure(of: service) == nil)
        #expect(transport.requests[0].request.headers["Authorization"] == "Bearer \(Self.good)")
    }

    @Test(arguments: ["opaque", "a.b.c", ""])
    func `What is no web token is not sent`(_ text: String) async throws {
        let (transport, service) = try service(FixedAuthClient { _ in text }, [])
        let error = await failure(of: service)
        #expect(error?.underlying as? SupabaseTokenProblem == .noWebToken)
        #expect(transport.requests.isEmpty)
    }

    @Test func `A policy that wants a UUID of a subject that is none is named`() async throws {
        let refusal = #"{"code":"22P02","message":"invalid input syntax for type uuid: \"alice\"","details":null}"#
        let (_, service) = try service(
            FixedAuthClient { _ in Self.good }, [.on(.post, Self.rpc, .json(refusal, status: 400))])
        let error = await failure(of: service)
        #expect(error?.code == .unauthorized)
        #expect(error?.message.contains("“sub”") == true)
        #expect(error?.message.contains("alice") == false)
        #expect(error?.underlying as? SupabaseTokenProblem == .subjectIsNoUUID)
    }

    @Test func `With a subject that is a UUID, the same words are about something else`() async throws {
        let token = FixedAuthClient.token(["sub": "6f1b4a0e-0c1f-4a63-9a55-1d4f1d6f7a10", "role": "authenticated"])
        let refusal = #"{"code":"22P02","message":"invalid input syntax for type uuid: \"x\"","details":null}"#
        let (_, service) = try service(
            FixedAuthClient { _ in token }, [.on(.post, Self.rpc, .json(refusal, status: 400))])
        let error = await failure(of: service)
        #expect(error?.code == .invalidArgument)
        #expect(error?.underlying is PostgRESTFailure)
    }

    @Test func `Files are asked for with the same session, and name the same problems`() async throws {
        func failure(
            _ auth: FixedAuthClient, _ script: [ScriptedExchange]
        ) async -> FileStorageError? {
            let transport = ScriptedTransport(script)
            let service = SupabaseFileService(
                address: "https://demo.supabase.co/storage/v1", buckets: SupabaseBuckets(main: "files"),
                tokens: SupabaseTokens(key: "sb_publishable_1", auth: auth), transport: transport,
                persistently: RetryingCaller(clock: ContinuousClock()), now: { Timestamp(Date()) })
            let client = SupabaseFileStorageAdapter(service, folder: nil)
            do throws(FileStorageError) {
                _ = try await client.metadata(of: "a.txt")
                return nil
            } catch {
                return error
            }
        }
        let info = "https://demo.supabase.co/storage/v1/object/info/authenticated/files/a.txt"
        #expect(
            await failure(
                FixedAuthClient { _ in Self.good },
                [
                    .on(
                        .get, info,
                        check: { $0.request.headers["Authorization"] == "Bearer \(Self.good)" ? nil : "another token" },
                        .json(#"{"name":"a.txt","size":1}"#))
                ]) == nil)
        let roleless = await failure(FixedAuthClient { _ in Self.roleless }, [])
        #expect(roleless?.code == .unauthenticated)
        #expect(roleless?.underlying as? SupabaseTokenProblem == .missingClaim("role"))
        let refusal =
            #"{"statusCode":"500","error":"DatabaseError","message":"invalid input syntax for type uuid: \"alice\""}"#
        let subject = await failure(
            FixedAuthClient { _ in Self.good }, [.on(.get, info, .json(refusal, status: 400))])
        #expect(subject?.code == .unauthorized)
        #expect(subject?.underlying as? SupabaseTokenProblem == .subjectIsNoUUID)
    }
}
