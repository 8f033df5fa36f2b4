import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Whether the project still knows the session of a good token, asked with what a server has been given.
@Suite struct FirebaseRevocationTests {
    private typealias Tokens = FirebaseTokenVerifierTests

    private static let projectLookup = "https://identitytoolkit.googleapis.com/v1/projects/demo/accounts:lookup"
    private static let keyLookup = "https://identitytoolkit.googleapis.com/v1/accounts:lookup"
    private static let credential = FirebaseCredential.tokens { isRefused in
        .init(isRefused ? "second" : "first", expiresAt: .distantFuture)
    }

    private static func account(_ more: String = "") -> String { #"{"users":[{"localId":"ada"\#(more)}]}"# }

    private static func refusal(_ status: Int, _ code: String) -> ScriptedReply {
        .json(#"{"error":{"code":\#(status),"message":"\#(code)","status":"\#(code)"}}"#, status: status)
    }

    /// A token and the answer to the question for its keys.
    private static func token(isCookie: Bool) -> (text: String, keys: ScriptedExchange) {
        guard isCookie else { return (Tokens.token(), Tokens.published()) }
        let certificates = JSON.object(["c1": .string(Tokens.certificate)]).text()
        return (Tokens.cookie, .on(.get, Tokens.certificates, .json(certificates)))
    }

    private static func error(_ bed: Tokens.Bed, _ token: String) async -> TokenError? {
        await #expect(throws: TokenError.self) { try await bed.verifier.verify(Secret(token), checksRevocation: true) }
    }

    // MARK: In the project's name

    @Test(arguments: [false, true])
    func `A server without an API key looks the account up with its credential`(isCookie: Bool) async throws {
        let token = Self.token(isCookie: isCookie)
        let bed = try Tokens.Bed(
            apiKey: "", credential: Self.credential,
            script: [token.keys, .on(.post, Self.projectLookup, .json(Self.account()))])
        let verified = try await bed.verifier.verify(Secret(token.text), checksRevocation: true)
        #expect(verified.userID == "ada")
        let asked = try #require(bed.transport.requests.last)
        #expect(asked.request.headers["Authorization"] == "Bearer first")
        #expect(asked.request.headers["x-goog-api-key"] == nil)
        #expect(asked.text == #"{"localId":["ada"]}"#, "the token stays here")
        try bed.transport.verify()
    }

    /// The ID token's sign-in was at 1 699 999 200, the cookie's at 1 700 000 000.
    private static let endings: [(answer: String, code: ErrorCode)] = [
        (account(#","disabled":true"#), .userDisabled), (account(#","validSince":"1700000001""#), .tokenRevoked),
        ("{}", .tokenRevoked), (#"{"users":[]}"#, .tokenRevoked),
    ]

    @Test(arguments: endings.indices, [false, true])
    func `A disabled or deleted account and an ended session are reported`(_ index: Int, isCookie: Bool) async throws {
        let (token, ending) = (Self.token(isCookie: isCookie), Self.endings[index])
        let bed = try Tokens.Bed(
            apiKey: "", credential: Self.credential,
            script: [token.keys, .on(.post, Self.projectLookup, .json(ending.answer))])
        #expect(await Self.error(bed, token.text)?.code == ending.code)
        try bed.transport.verify()
    }

    @Test func `A session that began in the very second from which sessions count goes on`() async throws {
        let answer = Self.account(#","disabled":false,"validSince":"\#(Tokens.time - 900)""#)
        let bed = try Tokens.Bed(
            apiKey: "", credential: Self.credential,
            script: [Tokens.published(), .on(.post, Self.projectLookup, .json(answer))])
        _ = try await bed.verifier.verify(Secret(Tokens.token()), checksRevocation: true)
    }

    @Test func `A credential that is refused is the server's trouble and not the user's`() async throws {
        let expired = ScriptedExchange.on(.post, Self.projectLookup, Self.refusal(401, "UNAUTHENTICATED"))
        let bed = try Tokens.Bed(
            apiKey: "", credential: Self.credential,
            script: [
                Tokens.published(), expired, expired,
                .on(.post, Self.projectLookup, Self.refusal(403, "PERMISSION_DENIED")),
            ])
        for _ in 0..<2 {
            let error = await Self.error(bed, Tokens.token())
            #expect(error?.code == .failedPrecondition && error?.isRetryable == false, "\(error as Any)")
            #expect(error?.message.contains("Firebase Authentication Admin") == true)
        }
        let bearers = bed.transport.requests.map { $0.request.headers["Authorization"] }
        #expect(bearers == [nil, "Bearer first", "Bearer second", "Bearer second"], "a refused token is renewed once")
        try bed.transport.verify()
    }

    @Test func `A key file that Google no longer takes is reported as such, and its silence may be tried again`()
        async throws
    {
        let file: JSON = [
            "type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
        ]
        let address = "https://oauth2.googleapis.com/token"
        let bed = try Tokens.Bed(
            apiKey: "", credential: .keyFile(text: Secret(file.text())),
            script: [
                Tokens.published(), .on(.post, address, .json(#"{"error":"invalid_grant"}"#, status: 400)),
                .on(.post, address, .text("", status: 503)),
            ])
        let refused = await Self.error(bed, Tokens.token())
        #expect(refused?.code == .failedPrecondition)
        #expect(refused?.message.contains("does not accept Firebase's credential") == true)
        let silent = await Self.error(bed, Tokens.token())
        #expect(silent?.code == .unavailable && silent?.isRetryable == true)
        try bed.transport.verify()
    }

    @Test(arguments: [false, true])
    func `While the account cannot be looked up no one is turned away for good`(isOverloaded: Bool) async throws {
        let reply: ScriptedReply =
            isOverloaded
            ? .failure(TransportError(.overloaded, "too many wait", isRetryable: true)) : .text("", status: 500)
        let bed = try Tokens.Bed(
            apiKey: "", credential: Self.credential,
            script: [Tokens.published(), .on(.post, Self.projectLookup, reply)])
        let error = await Self.error(bed, Tokens.token())
        #expect(error?.code == .unavailable && error?.isRetryable == true, "\(error as Any)")
    }

    // MARK: With an API key

    @Test func `With an API key only, the ID token itself is looked up`() async throws {
        let bed = try Tokens.Bed(
            Tokens.published(), .on(.post, Self.keyLookup, .json(Self.account())),
            .on(.post, Self.keyLookup, Self.refusal(400, "TOKEN_EXPIRED")),
            .on(.post, Self.keyLookup, Self.refusal(400, "USER_DISABLED")))
        _ = try await bed.verifier.verify(Secret(Tokens.token()), checksRevocation: true)
        let asked = try #require(bed.transport.requests.last)
        #expect(asked.request.headers["x-goog-api-key"] == "key")
        #expect(asked.text == #"{"idToken":"\#(Tokens.token())"}"#)
        #expect(await Self.error(bed, Tokens.token())?.code == .tokenRevoked)
        #expect(await Self.error(bed, Tokens.token())?.code == .userDisabled)
        try bed.transport.verify()
    }

    @Test func `A refused API key is the server's trouble and not the user's`() async throws {
        let answer =
            #"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","#
            + #""details":[{"reason":"API_KEY_INVALID"}]}}"#
        let bed = try Tokens.Bed(
            Tokens.published(), .on(.post, Self.keyLookup, .json(answer, status: 400)))
        let error = await Self.error(bed, Tokens.token())
        #expect(error?.code == .failedPrecondition && error?.isRetryable == false)
        #expect(error?.message.contains("Copy apiKey from the Firebase console") == true)
    }

    @Test(arguments: [("key", true), ("", true), ("", false)])
    func `What cannot be looked up without a credential is reported before any request`(
        _ key: String, isCookie: Bool
    ) async throws {
        let token = Self.token(isCookie: isCookie)
        let bed = try Tokens.Bed(apiKey: Secret(key), script: [token.keys])
        let error = await Self.error(bed, token.text)
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("Set credential in Firebase's configuration") == true)
        try bed.transport.verify()
    }
}
