import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardFirebase
@testable import SwitchyardLocalFirebase

/// Devices of one project on a local Firebase of its own, at a time that stands still until a check moves it.
final class LocalAuthHarness: AuthHarness {
    static let features: AuthFeatures = {
        var capabilities = AuthCapabilities.all
        capabilities.phoneCodes = false
        capabilities.signOutElsewhere = false
        var features = AuthFeatures(capabilities)
        features.keepsSessions = true
        features.agesTokens = true
        features.endsSessions = true
        features.disablesAccounts = true
        return features
    }()

    let firebase: LocalFirebase
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("auth-\(UUID().uuidString)")
    private let codes = Mutex<[Secret: Int64]>([:])
    private let devices = Mutex<[ObjectIdentifier: URL]>([:])
    var features: AuthFeatures { Self.features }

    init() throws {
        let clock = MovedClock()
        var options = LocalFirebaseOptions()
        options.now = { clock.now }
        self.clock = clock
        firebase = try LocalFirebase(options)
    }

    private let clock: MovedClock

    deinit { try? FileManager.default.removeItem(at: folder) }

    func makeAuthClient() async throws -> any AuthClient { try make(folder.appendingPathComponent(RandomID.make())) }

    func reopen(_ client: any AuthClient) async throws -> any AuthClient {
        guard let client = client as? FirebaseAuthAdapter,
            let folder = devices.withLock({ $0[ObjectIdentifier(client)] })
        else { throw Missing() }
        return try make(folder)
    }

    private func make(_ folder: URL) throws -> FirebaseAuthAdapter {
        let configuration = FirebaseConfiguration(
            project: firebase.project, apiKey: "any", emulators: .init(auth: firebase.host),
            usesEmulatorVariables: false)
        let module = FirebaseModule(configuration, environment: [:]) { CurlTransport() }
        let clock = clock
        let client = try FirebaseAuthAdapter(
            module.clientContext(ModuleContext(now: { clock.now }, stateFolder: folder)))
        devices.withLock { $0[ObjectIdentifier(client)] = folder }
        return client
    }

    // MARK: What happens outside of clients

    private struct Missing: Error {}

    private func account(_ id: String, _ change: (inout LocalAccount) -> Void) throws {
        try firebase.auth.perform { register throws(AuthFailure) in
            guard var account = register.accounts[id] else { throw .notFound }
            change(&account)
            register.accounts[id] = account
        }
    }

    private func code(_ type: String, _ email: String) async throws -> (code: String, link: String) {
        let codes = try firebase.auth.perform { register throws(AuthFailure) in register.mailedCodes }
        guard let mail = codes.last(where: { $0.email == email.lowercased() && $0.purpose.rawValue == type }) else {
            throw Missing()
        }
        return (mail.code, mail.link)
    }

    func confirmEmail(_ email: String) async throws {
        try firebase.auth.perform { register throws(AuthFailure) in
            for (id, account) in register.accounts where account.email == email.lowercased() {
                register.accounts[id]?.isEmailVerified = true
            }
        }
    }

    func resetCode(for email: String) async throws -> Secret { Secret(try await code("PASSWORD_RESET", email).code) }
    func signInLink(for email: String) async throws -> URL {
        guard let url = URL(string: try await code("EMAIL_SIGNIN", email).link) else { throw Missing() }
        return url
    }

    func customToken(for userID: String) async throws -> Secret {
        Secret(JSON.object(["uid": .string(userID)]).text())
    }

    func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret {
        Secret(JSON.object(["sub": .string(subject), "email": .string(email), "email_verified": true]).text())
    }

    func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL {
        let transport = CurlTransport()
        let who = FormCoding.encode(
            [(name: "sub", value: "subject of \(email)"), (name: "email", value: email)], space: .percent)
        var request = HTTPRequest(.get, "\(signIn.url.absoluteString)&\(who)")
        request.redirects = .surface
        let answer = try await transport.send(request)
        await transport.shutDown()
        guard let url = answer.headers["Location"].flatMap({ URL(string: $0) }) else { throw Missing() }
        return url
    }

    func secondFactorCode(for sharedKey: Secret) async throws -> Secret {
        let step = codes.withLock { codes in
            let step = max(clock.now.seconds / OneTimeCode.period, (codes[sharedKey] ?? 0) + 1)
            codes[sharedKey] = step
            return step
        }
        return Secret(OneTimeCode.code(key: Base32.decode(sharedKey.reveal()) ?? [], step: step))
    }

    func expireAccessToken(of client: any AuthClient) async throws { clock.advance(3600) }
    func endSessions(of user: AuthUser) async throws {
        let now = clock.now.seconds
        try account(user.id) { $0.revokeSessions(at: now) }
    }
    func disable(_ user: AuthUser) async throws { try account(user.id) { $0.isDisabled = true } }
}
