import Switchyard
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Two real processes on one session file, while a real server answers: this one, and one that it starts.
@Suite struct SharedSessionTests {
    struct Vendor: SessionVendor {
        static let refreshMark = "/v1/token"
        let host: String
        let project: String

        init(_ firebase: LocalFirebase) { (host, project) = (firebase.host, firebase.project) }

        func client(_ context: ModuleContext, over transport: any Transport) throws -> any AuthClient {
            let configuration = FirebaseConfiguration(
                project: project, apiKey: "any", emulators: .init(auth: host), usesEmulatorVariables: false)
            return try FirebaseAuthAdapter(
                FirebaseModule(configuration, environment: [:]) { transport }.clientContext(context))
        }
    }

    private static func session(on firebase: LocalFirebase) throws -> SharedSession<Vendor> {
        try SharedSession(Vendor(firebase)) { process, _ in
            await #expect(processExitsWith: .success) { [process = process as SessionProcess<Vendor>] in
                await process.run()
            }
        }
    }

    @Test func `Two processes whose token has run out cost one refresh`() async throws {
        let firebase = try LocalFirebase()
        let seen = try await Self.session(on: firebase).needTokenAtOnce()
        await firebase.stop()
        #expect(seen.other == [["token", seen.here.userID, String(seen.here.value.reveal().suffix(40))]])
        #expect(seen.refreshes == 1)
    }

    @Test func `A sign-out while another process refreshes is final in both`() async throws {
        let firebase = try LocalFirebase()
        for round in 0..<4 {
            let seen = try await Self.session(on: firebase).signOutWhileRefreshing(round)
            #expect(seen.other.last == ["out"], "\(seen.other.suffix(3))")
            #expect(seen.here == .signedOut(SignOut(.byUser)))
            #expect(!seen.later.isSignedIn, "nothing in the file brings it back")
        }
        await firebase.stop()
    }

    @Test func `Whoever signs in takes the place of others in both processes, whatever is refreshed meanwhile`()
        async throws
    {
        let firebase = try LocalFirebase()
        let seen = try await Self.session(on: firebase).signInWhileRefreshing(8)
        await firebase.stop()
        #expect(seen.other.last == ["out"], "\(seen.other.suffix(3))")
        #expect(seen.tokens.map(\.user) == seen.tokens.map(\.user).sorted(), "no one comes back")
        #expect(seen.tokens.allSatisfy { $0.user >= $0.before }, "who asks after a sign-in gets the new user's token")
    }
}
