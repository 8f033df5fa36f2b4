import Foundation
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The faults that a local server begins with: a JSON list of rules, as `POST /_faults` takes them one by one.
enum EmulatorFaults {
    static func read(_ file: String?) throws(UsageError) -> [JSONObject] {
        guard let file else { return [] }
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw UsageError("“\(file)” cannot be read; name a file with a JSON list of faults after “--faults”")
        }
        guard let list = (try? JSON(parsing: Array(bytes)))?.array else {
            throw UsageError("“\(file)” has no JSON list of faults, such as [{\"fault\": \"answer\", \"status\": 503}]")
        }
        var rules: [JSONObject] = []
        for (index, entry) in list.enumerated() {
            guard let rule = entry.object else { throw UsageError("fault \(index + 1) in “\(file)” is not an object") }
            do throws(FaultRule.Mistake) { _ = try FaultRule(rule) } catch {
                throw UsageError("fault \(index + 1) in “\(file)” cannot be used: \(error.text)")
            }
            rules.append(rule)
        }
        return rules
    }

    static func add(_ rules: [JSONObject], to server: LoopbackServer) throws(FaultRule.Mistake) {
        for rule in rules { _ = try server.faultControl?.add(rule) }
    }

    /// So that nothing stands in the way of what is written at the end.
    static func removeAll(from server: LoopbackServer?) { _ = server?.faultControl?.remove(nil) }
}
