import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Lists of accounts, for the project's own server.
extension LocalSupabaseAuth {
    /// `GET /admin/users`: numbered pages of any size, the newest first unless `sort` says otherwise. A `filter` is a part of
    /// an address, or of a full name in upper or lower case; as with the vendor, it is a pattern.
    func listPeople(_ call: SupabaseAuthCall) async throws(AuthRefusal) -> ServerResponse {
        let isAscending = try Self.isAscending(call)
        let wanted = try Self.number("per_page", in: call) ?? 50
        // The vendor's library treats zero as twenty.
        let size = min(wanted == 0 ? 20 : wanted, 1 << 20)
        let page = min(max(try Self.number("page", in: call) ?? 1, 1), 1 << 30)
        let filter = call.request.query("filter") ?? ""
        let condition = "where ($1 = '' or email like $2 or raw_user_meta_data ->> 'full_name' ilike $2)"
        let patterns = [filter, "%\(filter)%"]
        let order = isAscending ? "asc" : "desc"
        let rows = try await call.tables.run(
            """
            select to_jsonb(t) from auth.users t \(condition) order by created_at \(order), id \(order)
            limit \(size) offset \((page - 1) * size)
            """, patterns
        ).rows.compactMap { $0.first.flatMap { $0 } }.compactMap { (try? JSON(parsing: $0))?.object }
        let people = rows.map { row in
            // Lists do not load the rows that belong to each account.
            var person = LocalSupabaseAccount(row: row).json
            person["identities"] = .null
            return JSON.object(person)
        }
        let count =
            try await call.tables.run("select count(*) from auth.users \(condition)", patterns).text.flatMap { Int($0) }
            ?? 0
        var answer = Self.ok(["users": .array(people), "aud": "authenticated"])
        answer.headers["X-Total-Count"] = String(count)
        let last = max((count + size - 1) / size, 1)
        var links = ["</admin/users?page=\(last)&per_page=\(size)>; rel=\"last\""]
        if page < last { links.insert("</admin/users?page=\(page + 1)&per_page=\(size)>; rel=\"next\"", at: 0) }
        answer.headers["Link"] = links.joined(separator: ", ")
        return answer
    }

    /// "created_at asc" or "created_at desc"; other sort orders do not exist.
    private static func isAscending(_ call: SupabaseAuthCall) throws(AuthRefusal) -> Bool {
        guard let text = call.request.query("sort") else { return false }
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let field = parts.first, field == "created_at" else {
            throw .invalid("Bad Sort Parameters: bad field for sort '\(parts.first ?? "")'")
        }
        guard parts.count == 2 else { return false }
        switch parts[1].lowercased() {
        case "asc": return true
        case "desc": return false
        default:
            throw .invalid(
                "Bad Sort Parameters: bad direction for sort '\(parts[1])', only 'asc' and 'desc' allowed")
        }
    }

    private static func number(_ name: String, in call: SupabaseAuthCall) throws(AuthRefusal) -> Int? {
        guard let text = call.request.query(name), !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw .invalid("Bad Pagination Parameters: strconv.ParseUint: parsing \"\(text)\": invalid syntax")
        }
        return number
    }
}
