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

    /// The services that are used, each address once: a local server has all at one.
    private func addresses() -> [(url: String, path: String)] {
        let project = PercentCoding.encode(settings.project)
        let database = PercentCoding.encode(settings.database)
        // The roots of the vendor's hosts answer with pages.
        let paths = [
            "/v1/projects?key=\(PercentCoding.encode(settings.apiKey.reveal()))",
            "/v1/projects/\(project)/databases/\(database)/documents?pageSize=1",
            "/v0/b/\(PercentCoding.encode(settings.bucket ?? ""))/o?maxResults=1",
        ]
        let all: [(emulator: String?, host: String, path: String)] = [
            (emulators.auth, settings.hosts.identityToolkit, paths[0]),
            (emulators.firestore, settings.hosts.firestore, paths[1]),
            (emulators.storage, settings.hosts.storage, paths[2]),
        ]
        var found: [(url: String, path: String)] = []
        for service in all.prefix(settings.bucket == nil ? 2 : 3) {
            let url = address(service.emulator, service.host)
            guard !found.contains(where: { $0.url == url }) else { continue }
            found.append((url, service.emulator == nil ? service.path : ""))
        }
        return found
    }

    func run() async -> Bool {
        for (url, path) in addresses() {
            guard await web.reach(url, asking: path, findings) else { return false }
        }
        if settings.bucket == nil {
            findings.add(
                .remark(
                    "files", "the configuration names no bucket", cure: "\"bucket\": \"PROJECT.firebasestorage.app\""))
        }
        guard await checkKey() else { return false }
        if settings.credential == nil {
            findings.add(
                .remark(
                    "credential", "none, so account management and rules for the project are not checked",
                    cure: "\"credential\": \"${GOOGLE_APPLICATION_CREDENTIALS}\", on servers only"))
        }
        return true
    }

    /// The account service answers with the project's settings to a key of that project.
    private func checkKey() async -> Bool {
        guard emulators.auth == nil else {
            findings.add(.fine("apiKey", "not needed by a local server"))
            return true
        }
        let cure = "copy apiKey from the Firebase console: Project settings, General"
        let key = PercentCoding.encode(settings.apiKey.reveal())
        do throws(TransportError) {
            let answer = try await web.send(.get, "\(settings.hosts.identityToolkit)/v1/projects?key=\(key)")
            guard answer.status < 400 else {
                let words = answer.json["error"]?["message"]?.string ?? "HTTP \(answer.status)"
                findings.add(.wrong("apiKey", "the project does not accept it: \(words)", cure: cure))
                return false
            }
            findings.add(.fine("apiKey", "accepted"))
        } catch {
            findings.add(.wrong("apiKey", error.message, cure: "check the network"))
            return false
        }
        return true
    }
}
