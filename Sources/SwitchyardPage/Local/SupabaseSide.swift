import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardText

struct SupabaseSide: LocalSide {
    let supabase: LocalSupabase
    let source: SupabaseClients
    let log: RequestLog

    var server: LoopbackServer { supabase.server }
    var address: String { supabase.server.url }
    var sent: [SentMessages] { [supabase.sent] }

    var isDeaf: Bool {
        get { supabase.isDeaf }
        nonmutating set { supabase.isDeaf = newValue }
    }

    func summary(of record: ExchangeRecord, _ state: ExchangeRecord.State) -> RequestSummary {
        SupabaseWords(record: record, state: state).summary()
    }

    func explanation(of record: ExchangeRecord, _ state: ExchangeRecord.State) async -> Explanation {
        await SupabaseReasons(supabase: supabase, record: record, state: state).explanation()
    }

    func settle(_ record: ExchangeRecord, _ state: ExchangeRecord.State) {}

    func check(
        _ path: StoragePath, as persona: Persona, data: DocumentData?
    ) async throws -> (read: Explanation, write: Explanation) {
        let token = Self.token(of: persona, supabase)
        if let table = await source.table(of: path.collection) {
            return await check(row: path.id, of: table, as: token, data)
        }
        let rules = DocumentRules(supabase: supabase, token: token)
        return (
            await rules.explanation(of: "read", at: [path.rawValue]),
            await rules.explanation(of: "write", at: [path.rawValue])
        )
    }

    /// A query leaves out what the caller may not read.
    func check(_ query: Query, as persona: Persona) async throws -> Explanation? { nil }

    /// By the policies of a table. What is to be written is the row with other values, or a new one.
    private func check(
        row id: String, of table: SupabaseTableMapping, as token: SupabaseToken, _ data: DocumentData?
    ) async -> (read: Explanation, write: Explanation) {
        let trial = PolicyTrial(
            database: supabase.database, token: token, schema: table.schema, table: table.table)
        let filter = PolicyTrial.SQLText(
            sql: "\(PolicyTrial.quoted(table.idColumn))::text = $1", parameters: [id])
        var columns: JSONObject = [:]
        for entry in data ?? [:] { columns[table.fields[entry.name] ?? entry.name] = entry.value.plainJSON }
        let isThere = await trial.row(.existing(filter)) != nil
        let reasons = PolicyReasons(trial: trial)
        let reading = await reasons.steps(.select, row: .existing(filter), newRow: .none)
        let writing =
            isThere
            ? await reasons.steps(.update, row: .existing(filter), newRow: .changed(filter, columns))
            : await reasons.steps(.insert, row: .none, newRow: .new(columns))
        func explained(_ answer: Bool?, _ steps: [Explanation.Step], _ deed: String) -> Explanation {
            let verdict = answer.map { $0 ? "Allowed" : "Denied" } ?? "Not decided"
            return Explanation(
                isAllowed: answer, summary: "\(verdict): \(deed) \(table.table)/\(id)", steps: steps)
        }
        return (
            explained(reading.0, reading.1, "read"), explained(writing.0, writing.1, isThere ? "update" : "insert")
        )
    }

    static func token(of persona: Persona, _ supabase: LocalSupabase) -> SupabaseToken {
        switch persona {
        case .project: SupabaseToken(claims: ["role": "service_role"])
        case .signedOut: LocalSupabase.anonymous
        case .user(let user): supabase.claims(for: user.id, user.claims, assurance: user.assurance ?? "aal1")
        }
    }

    // MARK: Accounts

    func sessions(of account: String) async throws -> [JSON]? {
        let found = try await rows(
            """
            select jsonb_build_object('id', s.id, 'assurance', s.aal, 'createdAt', s.created_at,
              'lastSeenAt', coalesce(s.refreshed_at, s.created_at), 'device', s.user_agent)
            from auth.sessions s where s.user_id::text = $1 order by s.created_at desc
            """, [account])
        return found.compactMap { try? JSON(parsing: $0) }
    }

    func endSession(_ id: String, of account: String) async throws -> Bool {
        try await !rows(
            "delete from auth.sessions where id::text = $1 and user_id::text = $2 returning id::text", [id, account]
        ).isEmpty
    }

    func removeFactor(_ id: String, of account: String) async throws -> Bool {
        try await !rows(
            "delete from auth.mfa_factors where id::text = $1 and user_id::text = $2 returning id::text", [id, account]
        ).isEmpty
    }

    /// The first column of what a statement finds with all rights.
    private func rows(_ sql: String, _ parameters: [String?]) async throws -> [String] {
        do throws(PostgresFailure) {
            let results = try await supabase.database.run([PostgresStatement(sql, parameters)])
            return results[0].rows.compactMap { $0.first.flatMap { $0 } }.map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw PageFailure(500, "unknown", "The database says: \(error.message)")
        }
    }

    func reset() async throws {
        do throws(PostgresFailure) { try await supabase.reset() } catch {
            throw PageFailure(500, "unknown", "The project cannot be reset: \(error.message)")
        }
    }
}
