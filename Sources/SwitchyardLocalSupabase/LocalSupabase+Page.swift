import Switchyard
package import SwitchyardBytes
package import SwitchyardServerKit

/// What a page that shows this server needs of it.
extension LocalSupabase {
    /// Mails, text messages and messages to topics.
    package var sent: SentMessages { context.sent }

    package var schemas: [String] { context.options.schemas }

    package var buckets: [String] { context.options.buckets }

    /// An access token for a user, who needs no account.
    ///
    /// - Parameters:
    ///   - claims: Further claims, or other ones.
    ///   - assurance: `aal1` or `aal2`.
    package func accessToken(for userID: String, claims extra: JSONObject, assurance: String) -> String {
        context.access.sign(claims(for: userID, extra, assurance: assurance).claims)
    }

    /// Who the database takes a user for.
    package func claims(for userID: String, _ extra: JSONObject, assurance: String) -> SupabaseToken {
        let now = context.now.seconds
        var claims: JSONObject = [
            "aud": "authenticated", "sub": .string(userID), "role": "authenticated", "iat": .integer(now),
            "exp": .integer(now + 3600), "aal": .string(assurance), "iss": .string(context.url + "/auth/v1"),
        ]
        for member in extra.members { claims[member.key] = member.value }
        return SupabaseToken(claims: claims)
    }

    /// The caller that a request with these header fields has; `nil` if its token is refused.
    package func token(authorization: String?, key: String?) -> SupabaseToken? {
        let words = (authorization ?? "").split(separator: " ")
        let text = words.count == 2 ? String(words[1]) : key
        guard let text else { return SupabaseToken(claims: ["role": "anon"]) }
        return try? context.access.token(text, ofAnyRole: true)
    }

    /// The role that has not signed in.
    package static var anonymous: SupabaseToken { SupabaseToken(claims: ["role": "anon"]) }

    /// Whether realtime connections stay open but receive nothing. Afterwards all end, since they have missed what happened.
    package var isDeaf: Bool {
        get { realtimeFaults.isDeaf }
        set {
            let wasDeaf = realtimeFaults.isDeaf
            realtimeFaults.isDeaf = newValue
            if wasDeaf, !newValue { cutSockets() }
        }
    }

    /// Deletes all accounts, documents, rows, files and messages, at once; tables, policies, buckets and rules stay.
    package func reset() async throws(PostgresFailure) {
        let names = schemas.map {
            "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
        }.joined(separator: ", ")
        let script = """
            do $page$
            declare
              tables text;
            begin
              select string_agg(format('%I.%I', n.nspname, c.relname), ', ') into tables
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where c.relkind in ('r', 'p') and not c.relispartition
                  and (n.nspname in (\(names))
                    or (n.nspname = 'auth')
                    or (n.nspname = 'switchyard' and c.relname not in ('settings', 'rules')))
                  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e');
              if tables is not null then execute 'truncate ' || tables || ' restart identity cascade'; end if;
              delete from storage.objects;
              if to_regclass('realtime.messages') is not null then delete from realtime.messages; end if;
              if to_regprocedure('switchyard.begin_epoch()') is not null then perform switchyard.begin_epoch(); end if;
            end $page$
            """
        _ = try await database.run([PostgresStatement(script)])
        sent.removeAll()
        // Whoever listens reads again.
        cutSockets()
    }
}
