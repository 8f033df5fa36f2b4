import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardFirebase

/// A client against a script of exchanges, at a time that the test sets.
final class AuthBed: Sendable {
    let transport: ScriptedTransport
    let client: FirebaseAuthAdapter
    let store = MemorySessionStore()
    private let time = BedTime()
    static let toolkit = "https://identitytoolkit.googleapis.com"
    static let secureToken = "https://securetoken.googleapis.com/v1/token"

    init(
        _ script: ScriptedExchange..., order: ScriptedTransport.Order = .strict, appCheck: FirebaseAppCheck? = nil,
        emulators: FirebaseConfiguration.Emulators = .init(), hosts: FirebaseConfiguration.Hosts = .init(),
        clock: any Clock<Duration> = ContinuousClock(), bundleID: String? = nil
    ) throws {
        let transport = ScriptedTransport(order: order, script)
        self.transport = transport
        let configuration = FirebaseConfiguration(
            project: "demo", apiKey: "the-key", bundleID: bundleID, hosts: hosts, emulators: emulators,
            usesEmulatorVariables: false)
        let time = time
        let module = FirebaseModule(configuration, appCheck: appCheck, environment: [:]) { transport }
        let context = try module.clientContext(
            ModuleContext(clock: clock, now: { Timestamp(microseconds: time.value * 1_000_000) }))
        client = FirebaseAuthAdapter(context, store: store)
    }

    var now: Int64 {
        get { time.value }
        set { time.value = newValue }
    }

    /// The bodies that were sent, as JSON or, for refreshes, as text.
    var bodies: [String] { transport.requests.map(\.text) }
    func body(_ index: Int) -> JSON { (try? JSON(parsing: transport.requests[index].body)) ?? .null }

    // MARK: What a server says

    static func call(_ path: String, _ answer: String, status: Int = 200) -> ScriptedExchange {
        .on(.post, toolkit + path, .json(answer, status: status))
    }

    static func refusal(_ path: String, _ message: String, status: Int = 400) -> ScriptedExchange {
        call(path, #"{"error":{"code":\#(status),"message":"\#(message)"}}"#, status: status)
    }

    static func refresh(_ answer: String, status: Int = 200) -> ScriptedExchange {
        .on(.post, secureToken, .json(answer, status: status))
    }

    static func refreshed(_ name: String, user: String = "alice") -> ScriptedExchange {
        let token = idToken(user, name: name)
        return refresh(
            #"{"access_token":"\#(token)","expires_in":"3600","token_type":"Bearer","refresh_token":"refresh-\#(name)","id_token":"\#(token)","user_id":"\#(user)","project_id":"12345"}"#
        )
    }

    /// A token as a server signs it, but for the signature; `name` makes it another one.
    static func idToken(
        _ user: String = "alice", name: String = "first", provider: String = "password", more: JSONObject = [:]
    ) -> String {
        var claims: JSONObject = [
            "sub": .string(user), "user_id": .string(user), "iat": 1_800_000_000, "exp": 1_800_001_800,
            "email": "alice@example.com", "jti": .string(name),
            "firebase": ["sign_in_provider": .string(provider), "identities": ["email": ["alice@example.com"]]],
        ]
        for member in more.members { claims[member.key] = member.value }
        if provider == "anonymous" { claims["email"] = nil }
        return "e30." + Base64.encode(JSON.object(claims).bytes(), alphabet: .url) + "."
    }

    /// The block of every sign-in.
    static func tokens(_ name: String = "first", user: String = "alice", provider: String = "password") -> String {
        #""idToken":"\#(idToken(user, name: name, provider: provider))","refreshToken":"refresh-\#(name)","expiresIn":"3600""#
    }

    static func lookup(_ user: String = "alice", _ more: String = "") -> ScriptedExchange {
        call(
            "/v1/accounts:lookup",
            #"{"users":[{"localId":"\#(user)","email":"\#(user)@example.com","passwordHash":"UkVEQUNURUQ=","providerUserInfo":[{"providerId":"password"}],"createdAt":"1700000000000","lastLoginAt":"1800000000000"\#(more)}]}"#
        )
    }

    /// Signed in as Alice, with the script going on after that.
    static func signedIn(_ script: ScriptedExchange...) async throws -> AuthBed {
        let bed = try AuthBed()
        bed.transport.expect(call("/v1/accounts:signInWithPassword", "{\(tokens())}"), lookup())
        try await bed.client.signIn(email: "alice@example.com", password: "secret")
        for exchange in script { bed.transport.expect(exchange) }
        return bed
    }

    /// The code with which the call fails; `nil` if it does not.
    func code(_ body: () async throws(AuthError) -> Void) async -> AuthError.Code? {
        do throws(AuthError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }
}
