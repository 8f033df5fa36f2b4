import Switchyard
import SwitchyardFirebase
import SwitchyardProviderHTTP
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// What requests say of the program that makes them.
@Suite struct ClientNameTests {
    private func agent(_ program: String?, given: String? = nil) async throws -> String? {
        let scripted = ScriptedTransport([.on(.get, "https://demo.example.com/", .status(204))])
        var request = HTTPRequest(.get, "https://demo.example.com/")
        request.headers["User-Agent"] = given
        _ = try await NamedTransport(scripted, program: program).send(request)
        return scripted.requests[0].request.headers["User-Agent"]
    }

    @Test func `An app's name comes first, and what a request says itself stays`() async throws {
        let own = try await agent(nil)
        #expect(own?.hasPrefix("switchyard-swift/") == true)
        #expect(try await agent("MyApp/2.1") == "MyApp/2.1 \(own ?? "")")
        #expect(try await agent("") == own)
        #expect(try await agent("My\r\nX-Evil: 1\u{0}App") == "MyX-Evil: 1App \(own ?? "")", "no second header field")
        #expect(try await agent("MyApp/2.1", given: "mine") == "mine")
    }

    @Test func `Both providers name the app in what they send`() async throws {
        let context = ModuleContext(program: "MyApp/2.1")
        for address in [
            "https://identitytoolkit.googleapis.com/v1/accounts:signInWithPassword",
            "https://demo.supabase.co/auth/v1/token?grant_type=password",
        ] {
            let stub = ScriptedTransport([.on(.post, address, .status(400))])
            let auth: any AuthClient =
                address.contains("google")
                ? try await FirebaseModule(
                    FirebaseConfiguration(project: "demo", apiKey: "key"), environment: [:]
                ) { stub }.makeAuthClient(context)
                : try await SupabaseModule(SupabaseConfiguration(url: "https://demo.supabase.co", key: "key")) { stub }
                    .makeAuthClient(context)
            // What was asked is enough.
            _ = try? await auth.signIn(email: "a@example.com", password: "long enough")
            #expect(
                stub.requests.first?.request.headers["User-Agent"]?.hasPrefix("MyApp/2.1 switchyard-swift/") == true)
            await auth.shutDown()
        }
    }
}
