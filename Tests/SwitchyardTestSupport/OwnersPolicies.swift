package import SwitchyardLocalSupabase
import SwitchyardServerKit

extension LocalSupabase {
    /// What the owner of a hosted project writes into the dashboard's editor for a bucket whose files belong to whoever
    /// uploads them.
    package func addOwnersPolicies(to bucket: String) async throws {
        let connection = try await database.connect()
        defer { connection.close() }
        let isTheirs = "bucket_id = '\(bucket)' and owner_id = (select auth.jwt() ->> 'sub')"
        try await connection.run(
            script: """
                create policy "read \(bucket)" on storage.objects for select to authenticated using (\(isTheirs));
                create policy "add to \(bucket)" on storage.objects for insert to authenticated with check (\(isTheirs));
                create policy "change \(bucket)" on storage.objects for update to authenticated using (\(isTheirs));
                create policy "remove from \(bucket)" on storage.objects for delete to authenticated using (\(isTheirs))
                """)
    }
}
