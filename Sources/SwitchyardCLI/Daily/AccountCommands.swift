import Foundation
import Switchyard
import SwitchyardBytes

extension AuthUser {
    /// `alice@example.com (ID)`
    fileprivate var shown: String {
        let name = email ?? phoneNumber ?? (isAnonymous ? "an anonymous user" : displayName ?? "a user")
        return "\(name) (\(id))"
    }

    fileprivate func json(provider: InfrastructureProvider) -> JSON {
        var object: JSONObject = [
            "id": .string(id), "provider": .string(provider.rawValue), "isAnonymous": .bool(isAnonymous),
        ]
        if let email { object["email"] = .string(email) }
        if let phoneNumber { object["phoneNumber"] = .string(phoneNumber) }
        if let displayName { object["displayName"] = .string(displayName) }
        return .object(object)
    }
}

extension OpenBackend {
    /// What is known about the session, once it has been read.
    func sessionState() async -> AuthState {
        for await state in auth.authStateStream() where state != .unknown { return state }
        return await auth.state
    }
}

/// `switchyard sign-in`
struct SignInCommand: BackendCommand {
    let name = "sign-in"
    let backend: BackendOptions
    private let email: String?
    private let isNew: Bool
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("sign-in"))
        backend = BackendOptions(given)
        email = given.arguments.first
        isNew = given.has("--new")
        isJSON = given.has("--json")
        guard (email == nil) == given.has("--anonymous") else {
            throw UsageError("“sign-in” needs either EMAIL or “--anonymous”")
        }
        guard !isNew || email != nil else { throw UsageError("“--new” goes with EMAIL") }
    }

    func run() async -> ExitStatus { await configured { configuration in await run(with: configuration) } }

    private func run(with configuration: InfrastructureConfiguration) async -> ExitStatus {
        guard configuration.stateFolder != nil else {
            report(
                "there is no state folder, so the session would end with this command. Pass “--state FOLDER”, or add "
                    + "\"stateFolder\" to the configuration.")
            return .usage
        }
        // Before anything else: whoever types must be able to stop.
        let password: Secret?
        if email != nil {
            let environment = ProcessInfo.processInfo.environment["SWITCHYARD_PASSWORD"].flatMap {
                $0.isEmpty ? nil : $0
            }
            guard let typed = environment ?? Input.secret("Password: ") else {
                guard Input.isTerminal else {
                    report(
                        "there is no password; type it, set SWITCHYARD_PASSWORD, or pass it as a line of the standard input"
                    )
                    return .usage
                }
                return .interrupted
            }
            password = Secret(typed)
        } else {
            password = nil
        }
        return await BackendRun(command: self) { open in try await signIn(on: open, password) }.run(with: configuration)
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus { try await signIn(on: backend, nil) }

    private func signIn(on backend: OpenBackend, _ password: Secret?) async throws -> ExitStatus {
        let user: AuthUser
        if let email, let password {
            if isNew {
                switch try await backend.auth.signUp(email: email, password: password) {
                case .signedIn(let new): user = new
                case .confirmationSent(let address):
                    Terminal.print("An email to \(address) confirms the account. Open its link, then sign in.")
                    return .success
                }
            } else {
                user = try await signIn(email, password, on: backend.auth)
            }
        } else {
            user = try await backend.auth.signInAnonymously()
        }
        if isJSON {
            Terminal.print(user.json(provider: backend.auth.provider).text())
        } else {
            Terminal.print("Signed in as \(user.shown).")
        }
        return .success
    }

    private func signIn(
        _ email: String, _ password: Secret, on auth: any AuthClient
    ) async throws -> AuthUser {
        do throws(AuthError) {
            return try await auth.signIn(email: email, password: password)
        } catch {
            guard let challenge = error.challenge, let factor = challenge.factors.first, Input.isTerminal,
                let code = Input.secret("Code of \(factor.displayName ?? "the authenticator app"): ")
            else { throw error }
            return try await auth.answer(
                challenge, with: SecondFactorAnswer(factor: factor.id, code: Secret(code)))
        }
    }
}

/// `switchyard sign-out`
struct SignOutCommand: BackendCommand {
    let name = "sign-out"
    let backend: BackendOptions
    private let wipes: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("sign-out"))
        backend = BackendOptions(given)
        wipes = given.has("--wipe")
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        guard case let state = await backend.sessionState(), let user = state.user else {
            throw CommandFailure("no one is signed in")
        }
        try await backend.auth.signOut(.local, wipesLocalData: wipes)
        Terminal.print("Signed out \(user.shown).")
        return .success
    }
}

/// `switchyard whoami`
struct WhoAmICommand: BackendCommand {
    let name = "whoami"
    let backend: BackendOptions
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("whoami"))
        backend = BackendOptions(given)
        isJSON = given.has("--json")
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let state = await backend.sessionState()
        switch state {
        case .signedIn(let user):
            Terminal.print(isJSON ? user.json(provider: backend.auth.provider).text() : user.shown)
            return .success
        case .expired(let user):
            throw CommandFailure("the session of \(user.shown) has expired; sign in again")
        case .locked:
            throw CommandFailure("the session cannot be read now, because another process uses the state folder")
        case .signedOut, .unknown:
            throw CommandFailure(
                "no one is signed in"
                    + (backend.stateFolder == nil
                        ? ": there is no state folder that could keep a session. Pass “--state FOLDER”" : ""))
        }
    }
}
