import Switchyard
import SwitchyardBytes
import SwitchyardServerKit

/// The requests to a local server, and what decided them.
struct RequestRoutes: Sendable {
    let backend: PageBackend

    func list(_ call: PageCall) throws -> JSON {
        let local = try backend.localSide()
        let limit = min(max(try call.queryNumber("limit") ?? 100, 1), RequestLog.capacity)
        let entries = local.log.entries(before: try call.queryNumber("before"), limit: limit)
        return .object([
            "requests": .array(entries.map { Self.summary($0, local) }), "total": .number(local.log.count),
        ])
    }

    private static func summary(_ entry: RequestLog.Entry, _ local: any LocalSide) -> JSON {
        let state = entry.record.state
        return local.summary(of: entry.record, state).json(entry, state)
    }

    private func entry(_ call: PageCall) throws(PageFailure) -> RequestLog.Entry {
        guard let number = Int(call.parameter("n")), let entry = try backend.localSide().log.entry(number) else {
            throw .missing("The request is not kept any more.")
        }
        return entry
    }

    func details(_ call: PageCall) async throws -> JSON {
        let local = try backend.localSide()
        let entry = try entry(call)
        let state = entry.record.state
        let headers = entry.record.head.headers
        var json = local.summary(of: entry.record, state).json(entry, state).object ?? [:]
        json["requestHeaders"] = Masked.headers(headers)
        json["requestBody"] = Masked.body(state.requestBody, headers)
        json["responseHeaders"] = Masked.headers(state.responseHeaders)
        json["responseBody"] = Masked.body(state.responseBody, state.responseHeaders)
        json["claims"] = .object(local.summary(of: entry.record, state).who.claims)
        json["explanation"] = await local.explanation(of: entry.record, state).json
        json["canReplay"] = .bool(RequestReplay.refusal(entry, state) == nil)
        return .object(json)
    }

    func replay(_ call: PageCall) async throws -> JSON {
        let local = try backend.localSide()
        let number = try await RequestReplay(local).send(try entry(call))
        return .object(["n": .number(number)])
    }

    /// Whether a persona may read and write a document.
    func check(_ call: PageCall) async throws -> JSON {
        let local = try backend.localSide()
        let path = try StoragePath(validating: call.required("path"))
        var data: DocumentData?
        if let json = call.body["data"], !json.isNull { data = try PageCall.data(json) }
        let answers = try await local.check(path, as: call.persona(), data: data)
        return .object([
            "read": .object([
                "allowed": answers.read.isAllowed.map { .bool($0) } ?? .null, "explanation": answers.read.json,
            ]),
            "write": .object([
                "allowed": answers.write.isAllowed.map { .bool($0) } ?? .null, "explanation": answers.write.json,
            ]),
        ])
    }
}
