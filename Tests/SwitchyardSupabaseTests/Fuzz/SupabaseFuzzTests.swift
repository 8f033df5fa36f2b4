import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A server that answers anything, anywhere: errors have their type, nothing hangs, and a session is whole or not there.
@Suite struct SupabaseFuzzTests {
    private static let answers = [
        SupabaseAuthBed.session(), SupabaseAuthBed.session("other", user: SupabaseAuthBed.user("bob")),
        SupabaseAuthBed.user(), SupabaseAuthBed.user("bob"), #"{"id":"alice","identities":[]}"#,
        #"{"code":"refresh_token_already_used","message":"x"}"#, #"{"code":400,"error_code":"bad_jwt","msg":"x"}"#,
        #"{"code":"user_banned","message":"x"}"#, #"{"code":"session_not_found"}"#, #"{"code":[]}"#,
        #"{"error":"invalid request","error_description":"x"}"#, #"{"code":"P0001","message":"x"}"#,
        #"{"access_token":"e30.e30.","refresh_token":"","expires_in":-5,"user":{"id":"x"}}"#,
        #"{"access_token":"a.b.c","refresh_token":"r","expires_in":9223372036854775807,"user":{"id":"alice"}}"#,
        #"{"id":"f","totp":{"secret":"K","uri":"otpauth://x"}}"#,
        #"{"msg":"Confirmation link accepted.","code":"200"}"#,
        #"{"name":"a.txt","size":3,"metadata":{"a":"b"}}"#, #"{"name":"a.txt","size":-3}"#,
        #"[{"name":"a","id":null},{"name":"b.txt","id":"i","metadata":{"size":1}}]"#, #"[{"name":"../x","id":"i"}]"#,
        #"{"statusCode":"404","error":"not_found","message":"x"}"#, #"{"statusCode":"403","message":"jwt expired"}"#,
        #"{"signedURL":"/object/sign/a b?token=x"}"#, #"{"signedURL":"?token="}"#, #"{"signedURL":5}"#,
        "{}", "[]", "null", "", "<html>", "1e400", #"{"a":"\ud800"}"#,
    ]

    private static let time = "2026-01-01T00:00:00.123456Z"
    private static let row = #""path":"a/b","created":"\#(time)","updated":"\#(time)","version":"7""#

    private static let documentAnswers = [
        #"{"documents":[{\#(row),"data":{"x":1}}],"readTime":"\#(time)"}"#,
        #"{"documents":[{\#(row),"data":{"x":{"$ts":"yesterday"}}}],"readTime":"\#(time)"}"#,
        #"{"documents":[{\#(row),"data":{"x":{"$geo":[1]},"y":{"$bytes":"!"}}}],"readTime":"\#(time)"}"#,
        #"{"documents":[{\#(row),"data":{"x":{"$num":"many"},"y":{"$new":1}}}],"readTime":"\#(time)"}"#,
        #"{"documents":[{\#(row),"data":[]}],"readTime":"\#(time)"}"#,
        #"{"documents":[{"path":"a","data":{},"created":"\#(time)","updated":"x"}],"readTime":"\#(time)"}"#,
        #"{"documents":[],"readTime":"9999999-01-01T00:00:00Z"}"#, #"{"documents":{},"readTime":5}"#,
        #"{"commitTime":"\#(time)","results":[{"updateTime":"\#(time)","transforms":[]}]}"#,
        #"{"commitTime":"\#(time)","results":[]}"#, #"{"commitTime":"\#(time)"}"#, #"{"results":[{}]}"#,
        #"{"commitTime":"\#(time)","results":[{"transforms":[{"$ref":1}]}]}"#, "[1]", "[1,2]", #"["a","b/c",""]"#,
        #"["a",5]"#, "3", "0", "-4", "9223372036854775807", "1.5", #"{"code":"PT409","message":"x","details":"0"}"#,
        #"{"code":"PT412","message":"x","details":"-1"}"#, #"{"code":"PGRST303","message":"JWT expired"}"#,
        #"{"code":"22P02","message":"invalid input syntax for type uuid: \"x\""}"#, "{}", "[]", "null", "",
        "<html>",
    ]

    private func reply(
        _ random: inout SeededGenerator, of answers: [String] = SupabaseFuzzTests.answers
    ) -> ScriptedReply {
        var text = Array(random.pick(answers).utf8)
        if random.chance(15), !text.isEmpty {
            for _ in 0..<random.int(1..<4) { text[random.int(0..<text.count)] = UInt8(random.int(0..<256)) }
        }
        if random.chance(10) { text = Array(text.prefix(random.int(0..<text.count + 1))) }
        if random.chance(8) {
            return .failure(TransportError(random.pick([.connectionLost, .hostNotFound, .badResponse, .stalled]), "x"))
        }
        var headers = HTTPHeaders()
        if random.chance(20) {
            headers["Content-Range"] = random.pick(["bytes 0-2/3", "bytes 5-1/2", "x", "bytes */3"])
        }
        if random.chance(10) { headers["x-relay-error"] = "true" }
        if random.chance(10) { headers["Location"] = random.pick(["/x", "https://elsewhere.example/x", "::", ""]) }
        if random.chance(20) { headers["Upload-Offset"] = random.pick(["0", "3", "-1", "99999999999999999999", "x"]) }
        if random.chance(10) { headers["ETag"] = random.pick(["\"a\"", "W/\"b\"", "\""]) }
        return .status(
            random.pick([200, 200, 200, 200, 206, 400, 400, 401, 403, 404, 409, 429, 500, 503, 546, 302, 204]),
            headers: headers, body: text)
    }

    private static func feed(_ transport: ScriptedTransport, _ answers: [ScriptedReply]) {
        // More than any one operation asks for.
        for answer in answers { transport.expect(.matching("anything", { _ in true }, reply: { _ in answer })) }
    }

    @Test(arguments: 0..<RandomRun.rounds(120)) func `Any answer leaves an auth client that still works`(
        seed: Int
    ) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let bed = SupabaseAuthBed()
        let link = try #require(URL(string: "https://d/?token_hash=h&type=email"))
        for _ in 0..<12 {
            Self.feed(bed.transport, (0..<8).map { _ in reply(&random) })
            let operation = random.int(0..<12)
            _ = await bed.code { () async throws(AuthError) in
                let client = bed.client
                switch operation {
                case 0: try await client.signUp(email: "a@b.c", password: "x")
                case 1: try await client.signIn(email: "a@b.c", password: "x")
                case 2: try await client.signInAnonymously()
                case 3: try await client.signIn(with: .identityToken(.google, "t"))
                case 4: try await client.signIn(with: .emailLink(email: "a@b.c", link))
                case 5: _ = try await client.accessToken(refreshing: true)
                case 6: try await client.reloadUser()
                case 7: try await client.updateAccount(AccountChanges(displayName: "A", email: "b@c.d", password: "y"))
                case 8: try await client.link(.identityToken(.google, "t"))
                case 9: try await client.reauthenticate(with: .password(email: "a@b.c", "x"))
                case 10: _ = try await client.beginSecondFactor(.totp)
                default: try await client.resetPassword(code: "hash-of-a-mail", newPassword: "x")
                }
            }
            if random.chance(10) { bed.now += 4000 }
        }
        try? await bed.client.signOut()
        #expect(await !bed.client.state.isSignedIn)
    }

    @Test(arguments: 0..<RandomRun.rounds(120))
    func `Any answer to a call about files is a result or an error of its type`(
        seed: Int
    ) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let transport = ScriptedTransport()
        let auth = FixedAuthClient(provider: .supabase) { _ in "s3cr3t" }
        let files = SupabaseFileStorageAdapter(
            SupabaseFileService(
                address: "https://demo.supabase.co/storage/v1", buckets: SupabaseBuckets(main: "files", isPublic: true),
                tokens: SupabaseTokens(key: "k", auth: auth), transport: transport,
                persistently: RetryingCaller(clock: JumpingClock()),
                now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) }), folder: nil)
        for _ in 0..<10 {
            Self.feed(transport, (0..<6).map { _ in reply(&random) })
            let operation = random.int(0..<9)
            do throws(FileStorageError) {
                switch operation {
                case 0: _ = try await files.metadata(of: "a.txt")
                case 1: _ = try await files.list("a", pageSize: 10, page: nil)
                case 2: _ = try await files.data(at: "a.txt", range: 0..<3, limit: 100)
                case 3: _ = try await files.put(Data([1, 2, 3]), at: "a.txt")
                case 4: _ = try await files.copy("a.txt", to: "b.txt")
                case 5: _ = try await files.move("a.txt", to: "b.txt")
                case 6: try await files.delete("a.txt")
                case 7: _ = try await files.downloadURL(of: "a.txt", expiresIn: .seconds(60))
                default: _ = try await files.uploadURL(for: "a.txt")
                }
            } catch {
                #expect(error.code != .shutDown)
                #expect(!error.description.contains("s3cr3t"))
            }
        }
        await files.shutDown()
    }

    @Test(arguments: 0..<RandomRun.rounds(120)) func `Any answer about documents is a result or an error of its type`(
        seed: Int
    ) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let transport = ScriptedTransport()
        let auth = FixedAuthClient(provider: .supabase) { _ in "s3cr3t" }
        let driver = SupabaseDriver(
            service: PostgRESTService(
                project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "k", auth: auth),
                transport: transport, clock: JumpingClock()), clock: JumpingClock())
        let writes = [try DocumentWrite.set("a/b", ["x": 1])]
        for _ in 0..<12 {
            Self.feed(transport, (0..<8).map { _ in reply(&random, of: Self.documentAnswers) })
            let operation = random.int(0..<8)
            do throws(StorageError) {
                switch operation {
                case 0:
                    let found = try await driver.documents(["a/b", "a/c"]).documents
                    #expect(found.map(\.path) == ["a/b", "a/c"])
                case 1: _ = try await driver.results(of: Query(in: "a"))
                case 2:
                    let values = try await driver.aggregate(Query(in: "a"), [.count])
                    #expect(values.count == 1)
                case 3: _ = try await driver.collections(under: nil)
                case 4:
                    let result = try await driver.commit(
                        OutgoingBatch(id: "b", writes: writes, mayHaveBeenSent: false, userID: "alice"))
                    #expect(result.updateTimes.count == 1)
                case 5: _ = try await driver.result(of: OutgoingBatch(id: "b", writes: writes, mayHaveBeenSent: true))
                case 6: _ = try await driver.makeTransaction().commit(writes)
                default:
                    let deleted = try await driver.deleteRecursively("a/b") { _ in }
                    #expect(deleted >= 0)
                }
            } catch {
                #expect(error.code != .shutDown)
                #expect(!error.description.contains("s3cr3t"))
            }
        }
        await driver.shutDown()
    }

    @Test(arguments: [
        "{}", #"{"commitTime":"2026-01-01T00:00:00Z"}"#, #"{"commitTime":"2026-01-01T00:00:00Z","results":[]}"#, "[]",
        "<html>",
    ])
    func `A batch whose answer is none has not been refused`(_ answer: String) async throws {
        let transport = ScriptedTransport([
            .on(.post, "https://demo.supabase.co/rest/v1/rpc/switchyard_commit", .json(answer))
        ])
        let driver = SupabaseDriver(
            service: PostgRESTService(
                project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "k", auth: nil),
                transport: transport))
        let batch = OutgoingBatch(id: "b", writes: [try .set("a/b", ["x": 1])], mayHaveBeenSent: false)
        let error = await #expect(throws: StorageError.self) {
            () async throws -> Void in _ = try await driver.commit(batch)
        }
        #expect(error?.code == .unavailable && error?.isRetryable == true, "it is sent again, under the same name")
        await driver.shutDown()
    }

    @Test(arguments: 0..<RandomRun.rounds(60)) func `Any answer to a function's call is one, or an error of its type`(
        seed: Int
    ) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let transport = ScriptedTransport()
        let module = SupabaseModule(
            SupabaseConfiguration(url: "https://demo.supabase.co", key: "k", serviceKey: "s"),
            transport: { transport })
        let functions = SupabaseFunctions(try module.clientContext(ModuleContext(clock: JumpingClock())))
        for _ in 0..<10 {
            Self.feed(transport, (0..<4).map { _ in reply(&random) })
            do throws(SupabaseFunctionError) {
                let answer = try await functions.call(SupabaseFunctionCall("f", method: random.pick([.get, .post])))
                #expect((200..<300).contains(answer.status))
                _ = try answer.decoded(as: [String: Int].self)
            } catch {
                #expect(error.code != .shutDown)
            }
            let _: Int? = try? await functions.callDatabase("f")
        }
    }
}
