import Switchyard

/// The root of an app: shows different screens as the session changes, and knows when it has ended.
actor SessionWatcher {
    private var watching: Task<Void, Never>?

    init(_ auth: any AuthClient, report: @escaping @Sendable (String) -> Void) {
        let states = auth.authStateStream()
        watching = Task {
            var wasSignedIn = false
            for await state in states {
                switch state {
                case .unknown, .locked: continue
                case .signedOut(let signOut):
                    guard wasSignedIn else { continue }
                    report("session: signed out (\(signOut.reason.rawValue))")
                    return
                case .expired: report("session: please sign in again")
                case .signedIn:
                    if !wasSignedIn { report("session: signed in") }
                    wasSignedIn = true
                }
            }
        }
    }

    func waitUntilSignedOut() async { await watching?.value }
}
