import Switchyard
import SwitchyardBytes
import SwitchyardFirebase
import SwitchyardWire

/// What a Firebase project shows without an account: its addresses and its key.
struct FirebaseProbe: Sendable {
    private let settings: FirebaseConfiguration
    private let emulators: FirebaseConfiguration.Emulators
    private let web: WebProbe
    private let findings: Findings

    init(
        _ settings: FirebaseConfiguration, _ environment: [String: String], _ web: WebProbe, _ findings: Findings
    ) {
        self.settings = settings
        var emulators = settings.emulators
        if settings.usesEmulatorVariables {
            let variables = FirebaseConfiguration.Emulators(environment: environment)
            emulators.auth = emulators.auth ?? variables.auth
            emulators.firestore = emulators.firestore ?? variables.firestore
            emulators.storage = emulators.storage ?? variables.storage
        }
        self.emulators = emulators
        var web = web
        web.serverName = "firebase"
        self.web = web
        self.findings = findings
    }

    private func address(_ emulator: String?, _ host: String) -> String {
        guard let emulator else { return host }
        return emulator.includes("://") ? emulator : "http://\(emulator)"
    }

    func run() async -> Bool {
        let addresses = [
            address(emulators.auth, settings.hosts.identityToolkit),
            address(emulators.firestore, settings.hosts.firestore),
            settings.bucket == nil ? nil : address(emulators.storage, settings.hosts.storage),
        ].compactMap { $0 }
        for address in addresses.reduce(into: [String](), { if !$0.contains($1) { $0.append($1) } }) {
            guard await web.reach(address, findings) else { return false }
        }
        if settings.bucket == nil {
            findings.add(
                .remark(
                    "files", "the configuration names no bucket", cure: "\"bucket\": \"PROJECT.firebasestorage.app\""))
        }
        if emulators.auth == nil {
            let text = settings.apiKey.reveal()
            if text.hasPrefix("AIza") {
                findings.add(.fine("apiKey", "a key for apps; the first sign-in shows whether it is accepted"))
            } else {
                findings.add(
                    .wrong(
                        "apiKey", "it does not begin with “AIza”, as keys for apps do",
                        cure: "copy apiKey from the Firebase console: Project settings, General"))
            }
        } else {
            findings.add(.fine("apiKey", "not needed by a local server"))
        }
        if settings.credential == nil {
            findings.add(
                .remark(
                    "credential", "none, so account management and rules for the project are not checked",
                    cure: "\"credential\": \"${GOOGLE_APPLICATION_CREDENTIALS}\", on servers only"))
        }
        return true
    }
}
