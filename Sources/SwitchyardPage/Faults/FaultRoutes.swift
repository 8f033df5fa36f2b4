import SwitchyardBytes
import SwitchyardServerKit

/// Faults of a local server, made from the page. They do not concern the page's own requests.
struct FaultRoutes: Sendable {
    let backend: PageBackend
    let hub: EventHub

    private func control() throws(PageFailure) -> FaultControl {
        guard let control = try backend.localSide().server.faultControl else {
            throw .unsupported("This server has no faults.")
        }
        return control
    }

    private func tell() {
        guard let json = try? list() else { return }
        var event = json.object ?? [:]
        event["backend"] = .string(backend.id)
        hub.send("faults", .object(event))
    }

    func list() throws -> JSON {
        let local = try backend.localSide()
        return .object(["faults": .array(try control().rules), "isDeaf": .bool(local.isDeaf)])
    }

    func add(_ call: PageCall) throws -> JSON {
        let control = try control()
        let id: Int
        do throws(FaultRule.Mistake) { id = try control.add(call.body) } catch {
            throw PageFailure.invalid("\(error.text).")
        }
        tell()
        return .object(["id": .number(id)])
    }

    /// - Parameter id: `nil` for all.
    func remove(_ id: String?) throws -> JSON {
        guard try control().remove(id) || id == nil else { throw PageFailure.missing("There is no such fault.") }
        if id == nil { try backend.localSide().isDeaf = false }
        tell()
        return [:]
    }

    func open(_ id: String) throws -> JSON {
        guard try control().open(id) else { throw PageFailure.missing("There is no such fault, or it holds nothing.") }
        tell()
        return [:]
    }

    func disconnect() throws -> JSON {
        try backend.localSide().server.dropConnections(reset: true)
        return [:]
    }

    func setDeaf(_ call: PageCall) throws -> JSON {
        try backend.localSide().isDeaf = try call.bool("on")
        tell()
        return [:]
    }
}
