import SwitchyardBytes

/// The presence state of a channel. Pure: tracked entries in, notifications out.
struct PresenceState {
    /// The entries of each key, with the channel that tracks each one.
    private var entries: [String: [(owner: ObjectIdentifier, meta: JSONObject)]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The whole state, for a new client.
    var state: JSON {
        .object(
            JSONObject(
                entries.sorted { $0.key < $1.key }.map { (key: $0.key, value: Self.metas($0.value.map(\.meta))) }))
    }

    /// - Returns: The notification to send; `nil` if nothing has changed.
    mutating func track(_ key: String, _ owner: ObjectIdentifier, _ fields: JSONObject, ref: String) -> JSON? {
        var list = entries[key] ?? []
        var meta = fields
        var leaves = JSONObject()
        if let index = list.firstIndex(where: { $0.owner == owner }) {
            let old = list.remove(at: index).meta
            var bare = old
            bare["phx_ref"] = nil
            bare["phx_ref_prev"] = nil
            if bare == fields { return nil }
            meta["phx_ref_prev"] = old["phx_ref"]
            leaves[key] = Self.metas([old])
        }
        meta["phx_ref"] = .string(ref)
        list.append((owner, meta))
        entries[key] = list
        return ["joins": .object([key: Self.metas([meta])]), "leaves": .object(leaves)]
    }

    mutating func untrack(_ key: String, _ owner: ObjectIdentifier) -> JSON? {
        guard var list = entries[key], let index = list.firstIndex(where: { $0.owner == owner }) else { return nil }
        let old = list.remove(at: index).meta
        entries[key] = list.isEmpty ? nil : list
        return ["joins": [:], "leaves": .object([key: Self.metas([old])])]
    }

    private static func metas(_ list: [JSONObject]) -> JSON { ["metas": .array(list.map { .object($0) })] }
}
