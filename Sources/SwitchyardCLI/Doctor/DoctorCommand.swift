import Foundation
import Switchyard
import SwitchyardBytes

/// `switchyard doctor`
struct DoctorCommand: ToolCommand {
    private let backend: BackendOptions
    private let isJSON: Bool
    private let isReadOnly: Bool
    private let database: DatabaseAddress?

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("doctor"))
        backend = BackendOptions(given)
        isJSON = given.has("--json")
        isReadOnly = given.has("--read-only")
        database = try given["--database"].map { (text) throws(UsageError) in try DatabaseAddress(text) }
    }

    func run() async -> ExitStatus {
        let (isJSON, hasColour) = (isJSON, Terminal.hasColour(1))
        let findings = Findings { finding in
            Terminal.print(isJSON ? finding.json.text() : finding.lines(hasColour: hasColour))
        }
        let options = DoctorOptions(isReadOnly: isReadOnly, database: database)
        let (_, isInterrupted) = await Interruptible.run { [backend] in
            let configuration: InfrastructureConfiguration
            do throws(InfrastructureError) {
                configuration = try backend.configuration()
            } catch {
                findings.add(.wrong("configuration", error.message, cure: Cure.configuration(error)))
                return
            }
            await Doctor(configuration, options, findings).run()
        }
        if !isJSON { Terminal.print(findings.summary) }
        if isInterrupted { return .interrupted }
        return findings.worst == .wrong ? .failure : .success
    }
}

struct DoctorOptions: Sendable {
    var isReadOnly = false
    var database: DatabaseAddress?
    /// The time of day on this device.
    var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// How long a check may take.
    var patience = Duration.seconds(10)
}

/// What to do about errors, where their message alone is not to be pasted.
enum Cure {
    static func configuration(_ error: InfrastructureError) -> String {
        if error.message.includes("secret key, which bypasses") {
            return
                "\"key\": \"sb_publishable_…\", from Project Settings, API Keys; put the present one into \"serviceKey\", on servers only"
        }
        if error.message.includes("publishable key, which has no rights") {
            return "\"serviceKey\": \"sb_secret_…\", from Project Settings, API Keys; put the present one into \"key\""
        }
        if error.message.includes("belongs to the project") {
            return "copy url and key from the same project: Project Settings, Data API and API Keys"
        }
        return "correct the configuration; “Configuration keys” in the documentation lists what it may have"
    }

    static let clock = "sudo timedatectl set-ntp true"

    /// What an account lacks to be used on a backend.
    static func session(_ message: String) -> String? {
        if message.includes("claim “role”") {
            return
                "give accounts the claim: “switchyard emulator firebase --claims role=authenticated”, or in a hosted project "
                + "admin().update(id, AccountEdit(claims: [\"role\": \"authenticated\"]))"
        }
        if message.includes("to the project “") {
            return "take apiKey and project from the same project: Project settings, General"
        }
        if message.includes("Third-party auth") { return "add the issuer: Authentication, Third-party auth" }
        if message.includes("clock") { return clock }
        return nil
    }

    static func installation(_ database: DatabaseAddress?) -> String {
        database.map { "switchyard supabase install --database \($0.url)" }
            ?? "switchyard supabase install --print | psql \"$DATABASE_URL\""
    }
}

extension DatabaseAddress {
    var url: String { "postgresql://\(user)@127.0.0.1:\(port)/\(name)" }
}
