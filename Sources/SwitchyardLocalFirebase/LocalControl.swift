import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Requests about the whole server: whether it is running, and faults other than request faults.
struct LocalControl: LocalFirebaseService {
    let project: String
    let auth: LocalAuth
    let faults: StreamFaults

    func addRoutes(to router: inout Router) {
        router.on(.get, "/") { _ in
            .json(
                JSON.object([
                    "authEmulator": [
                        "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite",
                        "apiSpec": "/emulator/openapi.json",
                    ]
                ]).bytes())
        }
        // For another vendor's local server that accepts tokens of this one.
        router.on(.get, LocalFirebase.descriptionPath) { [project, keys] _ in
            .json(JSON.object(["project": .string(project), "keys": keys]).bytes())
        }
        let published = "/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
        router.on(.get, published) { [keys] _ in .json(JSON.object(["keys": keys]).bytes()) }
        router.on(.post, "/emulator/v1/projects/{project}/streamFaults") { request in
            guard request.parameters["project"] == project else { return ServerResponse(status: 404) }
            guard let bytes = try? await request.body.collect(upTo: 1 << 16), let json = try? JSON(parsing: bytes),
                let switches = json.object, switches.allSatisfy({ set($0.key, $0.value) })
            else { return .text("There is a switch here that cannot be read.\n", status: 400) }
            return .json(JSON.object([:]).bytes())
        }
    }

    private var keys: JSON { .array(auth.signer.publicKeys.map(\.json)) }

    /// - Returns: Whether the switch exists.
    private func set(_ name: String, _ value: JSON) -> Bool {
        switch (name, value.int, value.bool) {
        case ("duplicateArrays", let frames?, _): faults.duplicateArrays(inNext: frames)
        case ("reorderArrays", let frames?, _): faults.reorderArrays(inNext: frames)
        case ("misstateCount", let difference?, _): faults.misstateCounts(by: difference)
        case ("expireTokens", _, true?): auth.expireTokens(of: nil)
        default: return false
        }
        return true
    }
}
