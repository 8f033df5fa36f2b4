package import SwitchyardBytes
import SwitchyardWire
import Synchronization

/// Controls faults from outside the process, over HTTP with JSON.
///
/// | request | effect |
/// |---|---|
/// | `POST /_faults` with a rule | adds it; 201 with its `id` |
/// | `GET /_faults` | the rules given here, oldest first, with their `strikes` and whether they are `active` |
/// | `POST /_faults/{id}/open` | lets pass what the rule holds, now and from now on |
/// | `DELETE /_faults/{id}` | removes the rule and lets pass what it holds |
/// | `DELETE /_faults` | the same for all rules |
/// | `POST /_faults/disconnect`, optionally `?reset=false` | ends every other connection |
///
/// A rule is an object as `FaultRule` reads it, for example
///
/// ```json
/// {"fault": "answer", "status": 503, "path": "/v1/{database}/documents:commit", "method": "POST", "times": 2}
/// ```
///
/// Requests to these paths are never affected and not counted.
package struct FaultControl: Sendable {
    private struct Known: Sendable {
        let rule: FaultSwitches.Rule
        let text: JSONObject
        let gate: Gate?
    }

    private let path: String
    private let faults: FaultSwitches
    private let disconnect: @Sendable (_ except: Int, _ reset: Bool) -> Void
    private let known: KnownRules

    /// A class, since the control is a value shared by requests.
    private final class KnownRules: Sendable {
        let all = Mutex<[Known]>([])
    }

    package init(path: String, faults: FaultSwitches, disconnect: @escaping @Sendable (Int, Bool) -> Void) {
        self.path = path
        self.faults = faults
        self.disconnect = disconnect
        known = KnownRules()
    }

    package func isMeant(by request: ServerRequest) -> Bool {
        request.rawPath == path || request.rawPath.hasPrefix(path + "/")
    }

    package func handle(_ request: ServerRequest) async -> ServerResponse {
        let rest = request.rawPath.dropFirst(path.count).split(separator: "/")
        switch (request.method, rest.first.map(String.init), rest.dropFirst().first) {
        case (.get, nil, nil): return list()
        case (.post, nil, nil): return await add(request)
        case (.delete, nil, nil): return remove { _ in true }
        case (.post, "disconnect"?, nil):
            disconnect(request.connection, request.query("reset") != "false")
            return ServerResponse(status: 204)
        case (.delete, let id?, nil): return remove { String($0.rule.id) == id }
        case (.post, let id?, "open"?): return ServerResponse(status: open(id) ? 204 : 404)
        default: return ServerResponse(status: 404)
        }
    }

    private func add(_ request: ServerRequest) async -> ServerResponse {
        do {
            let text = try JSON(parsing: try await request.body.collect(upTo: 1 << 20))
            guard let object = text.object else { throw FaultRule.Mistake("a rule is an object") }
            return .json((["id": .integer(Int64(try add(object)))] as JSON).bytes(), status: 201)
        } catch let mistake as FaultRule.Mistake {
            return .text(mistake.text + "\n", status: 400)
        } catch {
            return .text("the body is not JSON\n", status: 400)
        }
    }

    /// Adds a rule as `FaultRule` reads it, and returns its ID.
    package func add(_ object: JSONObject) throws(FaultRule.Mistake) -> Int {
        let rule = try FaultRule(object)
        let added = faults.add(
            rule.fault, times: rule.times, after: rule.skips, every: rule.period, when: rule.condition)
        known.all.withLock { $0.append(Known(rule: added, text: object, gate: rule.gate)) }
        return added.id
    }

    /// The rules given here, oldest first, with what they did so far.
    package var rules: [JSON] {
        known.all.withLock { $0 }.map { known in
            var object = known.text
            object["id"] = .integer(Int64(known.rule.id))
            object["strikes"] = .integer(Int64(faults.strikes(of: known.rule)))
            object["active"] = .bool(faults.isActive(known.rule))
            if let gate = known.gate { object["held"] = .integer(Int64(gate.waiting)) }
            return JSON.object(object)
        }
    }

    private func list() -> ServerResponse { .json(JSON.array(rules).bytes()) }

    /// Lets pass what a rule holds.
    ///
    /// - Returns: Whether there is such a rule, and it holds.
    package func open(_ id: String) -> Bool {
        let gate = known.all.withLock { $0.first { String($0.rule.id) == id }?.gate }
        gate?.open()
        return gate != nil
    }

    private func remove(_ isMeant: (Known) -> Bool) -> ServerResponse {
        _ = take(isMeant)
        return ServerResponse(status: 204)
    }

    /// Removes one rule, or all, and lets pass what they hold.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func remove(_ id: String?) -> Bool { take { id == nil || String($0.rule.id) == id } > 0 }

    private func take(_ isMeant: (Known) -> Bool) -> Int {
        let gone = known.all.withLock { all in
            let gone = all.filter(isMeant)
            all.removeAll(where: isMeant)
            return gone
        }
        for known in gone {
            faults.remove(known.rule)
            known.gate?.open()
        }
        return gone.count
    }
}
