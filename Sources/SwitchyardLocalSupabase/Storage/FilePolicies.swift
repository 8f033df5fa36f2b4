/// The SQL for buckets requested at the start.
enum FilePolicies {
    static func script(_ options: LocalSupabaseOptions) -> String {
        (options.buckets.map(bucket) + [open(options.allowsEverything)]).joined(separator: ";\n")
    }

    /// A private bucket in which each file belongs to the user who uploaded it, as the owner of a hosted project would write
    /// it. An existing bucket keeps its policies.
    static func bucket(_ name: String) -> String {
        let bucket = literal(name)
        let policies = [
            ("read", "select", "using"), ("add", "insert", "with check"), ("change", "update", "using"),
            ("remove", "delete", "using"),
        ].map { verb, action, clause in
            """
            create policy \(RESTStatement.quoted("\(name): \(verb) own files")) on storage.objects for \(action) to authenticated
              \(clause) (bucket_id = \(bucket) and owner_id = (select auth.jwt() ->> 'sub'))
            """
        }
        return """
            do $bucket$
            begin
              if not exists (select from storage.buckets where id = \(bucket)) then
                insert into storage.buckets (id, name) values (\(bucket), \(bucket));
                \(policies.joined(separator: ";\n"));
              end if;
            end $bucket$
            """
    }

    private static func open(_ isOpen: Bool) -> String {
        """
        drop policy if exists local_open on storage.objects;
        drop policy if exists local_open on storage.buckets
        """
            + (isOpen
                ? """
                ;
                create policy local_open on storage.objects using (true) with check (true);
                create policy local_open on storage.buckets using (true) with check (true)
                """ : "")
    }

    private static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
