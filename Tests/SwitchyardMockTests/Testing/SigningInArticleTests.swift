import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Synchronization
import Testing

private let email = "alice@example.com"
private let newEmail = "alice@example.org"
private let password: Secret = "a long one"

/// What the article's app shows.
private final class Screen: Sendable {
    private let shown = Mutex<[String]>([])
    var texts: [String] { shown.withLock { $0 } }
    func show(_ text: String) { shown.withLock { $0.append(text) } }
}

/// What the article on signing in says, done on the mock.
@Suite struct SigningInArticleTests {
    private let screen = Screen()

    private func show(_ text: String) { screen.show(text) }
    private func showLaunchScreen() { show("launch") }
    private func showHome(of user: AuthUser) { show("home") }
    private func showSignIn() { show("sign in") }
    private func askAgain(_ user: AuthUser) { show("again") }
    private func ask(for challenge: SecondFactorChallenge) { show("second factor") }

    private func follow(_ auth: any AuthClient) async {
        for await state in auth.authStateStream() {
            switch state {
            case .unknown: showLaunchScreen()
            case .locked: showLaunchScreen()  // the device has not been unlocked since it started
            case .signedIn(let user): showHome(of: user)
            case .expired(let user): askAgain(user)
            case .signedOut: showSignIn()
            }
            break
        }
    }

    private func signIn(_ auth: any AuthClient, _ password: Secret) async {
        do throws(AuthError) {
            try await auth.signIn(email: email, password: password)
        } catch .invalidCredential {
            show("The address or the password is wrong.")
        } catch .emailNotConfirmed {
            show("Open the link in the message we sent you.")
        } catch .userDisabled, .methodDisabled {
            show("You cannot sign in this way.")
        } catch {
            if let challenge = error.challenge { ask(for: challenge) } else { show("Try again later.") }
        }
    }

    @Test func `Somebody signs up, in and out, and the screens follow`() async throws {
        let backend = try await Infrastructure(.mock)
        let auth = backend.auth
        switch try await auth.signUp(email: email, password: password) {
        case .signedIn(let user): show("Welcome, \(user.displayName ?? "whoever you are").")
        case .confirmationSent(let address): show("We sent a link to \(address).")
        }
        let same = try await auth.signIn(email: email, password: password)
        print(same.id, same.displayName ?? "without a name")
        await follow(auth)

        try await auth.signOut()
        await follow(auth)
        await signIn(auth, "a wrong one")
        try await auth.signIn(email: email, password: password)
        try await auth.signOut(.everywhere, wipesLocalData: true)
        #expect(
            screen.texts
                == ["Welcome, whoever you are.", "home", "sign in", "The address or the password is wrong."])
        await backend.shutDown()
    }

    @Test func `An address is confirmed by the link in the mail`() async throws {
        let project = MockBackend()
        project.accounts.asksForConfirmation = true
        let backend = try await project.infrastructure()
        let auth = backend.auth
        _ = try await auth.signUp(email: email, password: password)
        await signIn(auth, password)
        #expect(screen.texts == ["Open the link in the message we sent you."])

        try await auth.resendConfirmation(to: email)
        let link = try #require(project.accounts.mail(.addressConfirmation, to: email)?.link)
        let user = try await auth.signIn(with: .emailLink(email: email, link))
        #expect(user.email == email)

        if case .confirmationSent(let address) = try await auth.changeEmail(to: newEmail) {
            show("Open the link that we sent to \(address).")
        }
        #expect(screen.texts.last == "Open the link that we sent to \(newEmail).")
        await backend.shutDown()
    }

    @Test func `Every piece of Swift in the article stands above, line for line`() throws {
        let article = try Article("Sources/Switchyard/Documentation.docc/SigningIn.md")
        let missing = try article.missing(in: #filePath)
        #expect(missing.isEmpty, "not done in the test: \(missing)")
    }
}
