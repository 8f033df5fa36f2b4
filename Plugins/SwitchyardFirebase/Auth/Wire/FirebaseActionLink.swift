import Foundation
import SwitchyardBytes

/// A link in one of Firebase's emails.
struct FirebaseActionLink: Sendable {
    let mode: String
    let code: String

    /// `nil` for any other link. Links that open apps may wrap another link.
    init?(_ url: URL) {
        var text = url.absoluteString
        for _ in 0..<3 {
            let query = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
            guard let items = FormCoding.decode(query) else { return nil }
            func item(_ name: String) -> String? { items.first { $0.name == name && !$0.value.isEmpty }?.value }
            if let mode = item("mode"), let code = item("oobCode"), item("apiKey") != nil {
                guard Self.modes.contains(mode) else { return nil }
                self.mode = mode
                self.code = code
                return
            }
            guard let inner = item("link") ?? item("deep_link_id") else { return nil }
            text = inner
        }
        return nil
    }

    private static let modes: Set = [
        "signIn", "resetPassword", "verifyEmail", "recoverEmail", "verifyAndChangeEmail", "revertSecondFactorAddition",
    ]
}
