import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardConformance
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

@testable import SwitchyardSupabase

/// Devices of one project on a local Supabase, at a time that stands still until a check moves it.
final class LocalSupabaseAuthHarness: AuthHarness {
    static let features: AuthFeatures = features(asksForConfirmation: false)
    static let askingFeatures: AuthFeatures = features(asksForConfirmation: true)

    private static func features(asksForConfirmation: Bool) -> AuthFeatures {
        var capabilities = AuthCapabilities.all
        capabilities.customTokens = false
        var features = AuthFeatures(capabilities)
        features.keepsSessions = true
        features.agesTokens = true
        features.endsSessions = true
        features.disablesAccounts = true
        features.asksForConfirmation = asksForConfirmation
        features.confirmsNewAddresses = true
        return features
    }

    /// The project of all checks; each has people of its own there.
    private static let site = Task { try await Site() }
    /// One that asks for addresses to be confirmed, as hosted ones do.
    private static let askingSite = Task { try await Site(asksForConfirmation: true) }

    private struct Site: Sendable {
        let clock = MovedClock()
        let supabase: LocalSupabase

        init(asksForConfirmation: Bool = false) async throws {
            var options = LocalSupabaseOptions()
            options.auth.autoconfirmsEmails = !asksForConfirmation
            options.now = { [clock] in clock.now }
            supabase = try await LocalSupabase.onSharedPostgres(options)
            // What a project supplies so that people can delete their accounts.
            _ = try await supabase.database.run([
                PostgresStatement(
                    """
                    create function public.delete_account() returns void language sql security definer set search_path = ''
                      as 'delete from auth.users where id = auth.uid()'
                    """),
                PostgresStatement("revoke all on function public.delete_account() from public, anon"),
            ])
        }
    }

    private let supabase: LocalSupabase
    private let clock: MovedClock
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("auth-\(UUID().uuidString)")
    private let codes = Mutex<[Secret: Int64]>([:])
    private let devices = Mutex<[ObjectIdentifier: URL]>([:])
    let features: AuthFeatures

    init(asksForConfirmation: Bool = false) async throws {
        let site = try await asksForConfirmation ? Self.askingSite.value : Self.site.value
        (supabase, clock) = (site.supabase, site.clock)
        features = Self.features(asksForConfirmation: asksForConfirmation)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func makeAuthClient() async throws -> any AuthClient { try make(folder.appendingPathComponent(RandomID.make())) }

    func reopen(_ client: any AuthClient) async throws -> any AuthClient {
        guard let client = client as? SupabaseAuthAdapter,
            let folder = devices.withLock({ $0[ObjectIdentifier(client)] })
        else { throw Missing() }
        return try make(folder)
    }

    private func make(_ folder: URL) throws -> SupabaseAuthAdapter {
        let (url, key) = (supabase.server.url, supabase.anonKey)
        let module = SupabaseModule(
            SupabaseConfiguration(url: url, key: Secret(key)),
            accountDeletion: { token in
                var request = HTTPRequest(.post, "\(url)/rest/v1/rpc/delete_account", body: Array("{}".utf8))
                request.headers["apikey"] = key
                request.headers["Authorization"] = "Bearer \(token.value.reveal())"
                guard try await LocalSupabaseAuthHarness.send(request).isSuccess else { throw Missing() }
            }
        ) { CurlTransport() }
        let client = try SupabaseAuthAdapter(
            module.clientContext(ModuleContext(now: { [clock] in clock.now }, stateFolder: folder)),
            deletion: module.deletion)
        devices.withLock { $0[ObjectIdentifier(client)] = folder }
        return client
    }

    private static func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let transport = CurlTransport()
        do {
            let answer = try await transport.send(request)
            await transport.shutDown()
            return answer
        } catch {
            await transport.shutDown()
            throw error
        }
    }

    // MARK: What happens outside of clients

    private struct Missing: Error {}
    /// A link that the service does not accept, such as one that was opened before.
    private struct Refused: Error { let target: String }

    private func sent(_ occasion: String, to receiver: String) async throws -> JSON {
        var request = HTTPRequest(.get, "\(supabase.server.url)/_supabase/sent?to=\(PercentCoding.encode(receiver))")
        request.headers["apikey"] = supabase.serviceKey
        let answer = try JSON(parsing: try await Self.send(request).body)
        guard let message = answer["sent"]?.array?.last(where: { $0["occasion"]?.string == occasion }) else {
            throw Missing()
        }
        return message
    }

    private func run(_ sql: String, _ parameters: String...) async throws {
        _ = try await supabase.database.run([PostgresStatement(sql, parameters)])
    }

    func resetCode(for email: String) async throws -> Secret {
        let message = try await sent("recovery", to: email.lowercased())
        return Secret(message["token_hash"]?.string ?? "")
    }

    func signInLink(for email: String) async throws -> URL {
        let message = try await sent("magiclink", to: email.lowercased())
        guard let url = message["link"]?.string.flatMap({ URL(string: $0) }) else { throw Missing() }
        return url
    }

    func confirmationLink(for email: String) async throws -> URL {
        let message = try await sent("signup", to: email.lowercased())
        guard let url = message["link"]?.string.flatMap({ URL(string: $0) }) else { throw Missing() }
        return url
    }

    func confirmEmail(_ email: String) async throws {
        // Where no one is asked, every address counts as confirmed.
        guard features.asksForConfirmation else { return }
        try await open("signup", email)
    }

    /// For the service, an anonymous account changes its address from none.
    func confirmFirstEmail(_ email: String) async throws { try await open("email_change", email) }

    /// Both mailboxes agree, as the service asks for; where no one is asked, one is enough.
    func confirmChange(from old: String, to email: String) async throws {
        if features.asksForConfirmation { try await open("email_change", old) }
        try await open("email_change", email)
    }

    private func open(_ occasion: String, _ email: String) async throws {
        var request = HTTPRequest(.get, try await sent(occasion, to: email.lowercased())["link"]?.string ?? "")
        request.redirects = .surface
        let target = try await Self.send(request).headers["Location"] ?? ""
        guard !target.contains("error_code=") else { throw Refused(target: target) }
    }

    func phoneCode(for phoneNumber: String) async throws -> Secret {
        Secret(try await sent("sms", to: String(phoneNumber.dropFirst()))["code"]?.string ?? "")
    }

    func identityToken(of provider: IdentityProvider, subject: String, email: String) async throws -> Secret {
        Secret(JSON.object(["sub": .string(subject), "email": .string(email), "email_verified": true]).text())
    }

    func completeBrowserSignIn(_ signIn: BrowserSignIn, email: String) async throws -> URL {
        let who = FormCoding.encode(
            [(name: "sub", value: "subject of \(email)"), (name: "email", value: email)], space: .percent)
        var address = "\(signIn.url.absoluteString)&\(who)"
        while address.hasPrefix(supabase.server.url) {
            var request = HTTPRequest(.get, address)
            request.redirects = .surface
            guard let next = try await Self.send(request).headers["Location"] else { throw Missing() }
            address = next
        }
        guard let url = URL(string: address) else { throw Missing() }
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
        try await run("delete from auth.sessions where user_id = $1::uuid", user.id)
    }
    func disable(_ user: AuthUser) async throws {
        try await run("update auth.users set banned_until = '2999-01-01' where id = $1::uuid", user.id)
    }
}
