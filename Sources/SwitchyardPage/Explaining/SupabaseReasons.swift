import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardWire

/// Why a local Supabase allowed or denied a request. Policies are tried when one looks, on the rows as they are then.
struct SupabaseReasons: Sendable {
    let supabase: LocalSupabase
    let record: ExchangeRecord
    let state: ExchangeRecord.State
    private let words: SupabaseWords

    init(supabase: LocalSupabase, record: ExchangeRecord, state: ExchangeRecord.State) {
        self.supabase = supabase
        self.record = record
        self.state = state
        words = SupabaseWords(record: record, state: state)
    }

    private var message: String? {
        guard let json = try? JSON(parsing: state.responseBody.bytes) else { return nil }
        return json["message"]?.string ?? json["msg"]?.string ?? json["error_description"]?.string
    }

    func explanation() async -> Explanation {
        if let fault = state.fault, state.status ?? 0 >= 400 || state.status == nil {
            return .unguarded("The fault “\(fault)” was applied; no policy was asked.")
        }
        let summary = words.summary()
        switch summary.service {
        case .auth:
            return .unguarded(
                "No policy guards the account service: it decides by its own checks"
                    + (message.map { ", and says: \($0)" } ?? "."))
        case .functions: return .unguarded("No policy guards an edge function; it decides for itself.")
        case .realtime:
            return .unguarded(
                "Policies on realtime.messages decide who joins a private channel, those of each table who receives its "
                    + "changes. The connection itself is open to each key of the project.")
        case .storage, .messaging, .files: break
        }
        guard let token = token else {
            return Explanation(
                isAllowed: false, summary: "Denied before any policy: the token is not accepted.",
                steps: [
                    Explanation.Step(
                        source: .builtIn, name: "token", rule: message ?? "The token is not accepted.", result: .no)
                ])
        }
        return summary.service == .files
            ? await files(token, summary) : await rows(token, summary)
    }

    private var token: SupabaseToken? {
        supabase.token(
            authorization: record.head.headers["Authorization"],
            key: record.head.headers["apikey"] ?? words.parameter("apikey"))
    }

    private func finished(
        _ answer: Bool?, _ steps: [Explanation.Step], _ summary: RequestSummary
    ) -> Explanation {
        let isAllowed = summary.isAllowed ?? answer
        var steps = steps
        if let message, isAllowed == false { steps.append(said(message)) }
        let who = "\(summary.who.id ?? summary.who.kind.rawValue)"
        let verdict = isAllowed.map { $0 ? "Allowed" : "Denied" } ?? "Not decided by a policy"
        return Explanation(isAllowed: isAllowed, summary: "\(verdict): \(summary.what), by \(who)", steps: steps)
    }

    private func said(_ message: String) -> Explanation.Step {
        Explanation.Step(source: .builtIn, name: "answer", rule: message, result: .no)
    }

    // MARK: Rows and documents

    private func rows(_ token: SupabaseToken, _ summary: RequestSummary) async -> Explanation {
        if let function = words.function { return await procedure(function, token, summary) }
        guard let table = words.table else { return .unguarded("The description of the tables is open to each role.") }
        let schema =
            record.head.headers["Content-Profile"] ?? record.head.headers["Accept-Profile"] ?? supabase.schemas.first
            ?? "public"
        let trial = PolicyTrial(database: supabase.database, token: token, schema: schema, table: table)
        let filter = filter()
        let body = try? JSON(parsing: state.requestBody.bytes)
        let members = body?.object ?? body?.array?.first?.object ?? [:]
        let existing = filter.map { PolicyTrial.Row.existing($0) } ?? .existing(.init(sql: "true", parameters: []))
        let deed: PolicyReasons.Deed
        let newRow: PolicyTrial.Row
        switch record.head.method {
        case .post: (deed, newRow) = (.insert, .new(members))
        case .patch:
            deed = .update
            newRow = .changed(filter ?? .init(sql: "true", parameters: []), members)
        case .delete: (deed, newRow) = (.delete, .none)
        default: (deed, newRow) = (.select, .none)
        }
        let (answer, steps) = await PolicyReasons(trial: trial).steps(deed, row: existing, newRow: newRow)
        return finished(answer, steps, summary)
    }

    /// The simple conditions of the query: `id=eq.5`. Others are left to the row that is tried.
    private func filter() -> PolicyTrial.SQLText? {
        guard let mark = record.head.target.firstIndex(of: "?") else { return nil }
        var (parts, parameters): ([String], [String?]) = ([], [])
        for item in record.head.target[record.head.target.index(after: mark)...].split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let name = PercentCoding.decode(halves[0]),
                let value = PercentCoding.decode(halves[1]),
                value.hasPrefix("eq."), !["select", "order", "limit", "offset", "apikey", "columns"].contains(name)
            else { continue }
            parameters.append(String(value.dropFirst(3)))
            parts.append("\(PolicyTrial.quoted(name))::text = $\(parameters.count)")
        }
        return parts.isEmpty ? nil : PolicyTrial.SQLText(sql: parts.joined(separator: " and "), parameters: parameters)
    }

    private func procedure(
        _ function: String, _ token: SupabaseToken, _ summary: RequestSummary
    ) async -> Explanation {
        let rules = DocumentRules(supabase: supabase, token: token)
        let writes = words.writes.filter { $0.json["table"] == nil }
        let found: Explanation?
        switch function {
        case "switchyard_get": found = await rules.explanation(of: "read", at: words.paths)
        case "switchyard_commit", "switchyard_commit_many", "switchyard_commit_rows":
            found = writes.isEmpty ? nil : await rules.explanation(of: "write", at: writes.map(\.path))
        case "switchyard_delete_tree":
            let path = (try? JSON(parsing: state.requestBody.bytes))?["path"]?.string ?? ""
            found = await rules.explanation(of: "write", at: [path])
        case "switchyard_query", "switchyard_aggregate", "switchyard_changes", "switchyard_look":
            found = await listed(rules)
        default: found = nil
        }
        if let found { return finished(found.isAllowed, found.steps, summary) }
        let granted = try? await supabase.database.run([
            PostgresStatement(
                """
                select bool_or(has_function_privilege($1, p.oid, 'execute'))::text from pg_proc p
                join pg_namespace n on n.oid = p.pronamespace where p.proname = $2 and n.nspname = any ($3::text[])
                """, [token.role, function, "{" + supabase.schemas.joined(separator: ",") + "}"])
        ])
        let isGranted = granted?[0].text == "true"
        return finished(
            isGranted,
            [
                Explanation.Step(
                    source: .builtIn, name: "grant", rule: "grant execute on function \(function) to \(token.role)",
                    result: isGranted ? .yes : .no),
                Explanation.Step(
                    source: .builtIn, name: "function",
                    rule: "What \(function) does is decided by the function itself.",
                    result: .yes),
            ], summary)
    }

    /// A query only finds what the caller may read; nothing in it is denied.
    private func listed(_ rules: DocumentRules) async -> Explanation? {
        let names = words.collections.filter { !$0.isEmpty }
        guard let name = names.first else { return nil }
        var explanation = await rules.explanation(of: "read", at: [name + "/{document}"])
        explanation.isAllowed = true
        explanation.steps.append(
            Explanation.Step(
                source: .builtIn, name: "query",
                rule: "A query leaves out the documents that the caller may not read; it is not denied.", result: .yes))
        return explanation
    }

    // MARK: Files

    private func files(_ token: SupabaseToken, _ summary: RequestSummary) async -> Explanation {
        guard let object = words.object else {
            return .unguarded("Buckets are the project's own; the service key makes them.")
        }
        let trial = PolicyTrial(database: supabase.database, token: token, schema: "storage", table: "objects")
        let filter = PolicyTrial.SQLText(sql: "bucket_id = $1 and name = $2", parameters: [object.bucket, object.name])
        let id = token.claims["sub"].map { $0 } ?? .null
        let new: JSONObject = ["bucket_id": .string(object.bucket), "name": .string(object.name), "owner_id": id]
        let isList = record.head.target.includes("/object/list/")
        if record.head.target.includes("/object/public/") {
            return .unguarded("The bucket “\(object.bucket)” is public: everyone may read its files by their address.")
        }
        let deed: PolicyReasons.Deed =
            switch record.head.method {
            case .get, .head: .select
            case .delete: .delete
            case .put: .update
            default: isList || record.head.target.includes("/object/sign/") ? .select : .insert
            }
        let row: PolicyTrial.Row =
            isList
            ? .existing(.init(sql: "bucket_id = $1", parameters: [object.bucket])) : .existing(filter)
        let (answer, steps) = await PolicyReasons(trial: trial).steps(
            deed, row: row, newRow: deed == .update ? .changed(filter, [:]) : .new(new))
        return finished(answer, steps, summary)
    }
}
