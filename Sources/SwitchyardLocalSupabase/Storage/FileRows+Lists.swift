import SwitchyardBytes

/// Lists of objects that the policies show to the caller.
extension FileRows {
    struct Order: Sendable {
        let column: String
        let isDescending: Bool

        /// - Throws: `InvalidParameter` for a column that lists cannot be sorted by.
        init(_ json: JSON?, columns: Set<String>) throws(LocalSupabaseFileError) {
            guard let json, !json.isNull else {
                (column, isDescending) = ("name", false)
                return
            }
            guard let column = json["column"]?.string, columns.contains(column) else {
                throw LocalSupabaseFileError(400, "InvalidParameter", "Invalid parameter: sortBy/column")
            }
            self.column = column
            isDescending = json["order"]?.string?.lowercased() == "desc"
        }

        var direction: String { isDescending ? "desc" : "asc" }
    }

    /// One level: names below the first slash are listed as their folder.
    func level(
        _ bucket: String, prefix: String, search: String, _ order: Order, limit: Int, offset: Int,
        as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> JSON {
        // Sorted by bytes, like names. With other orders, folders come before the files, otherwise among them.
        try await rows(
            """
            with visible as (
              select o.*, substr(o.name, length($2::text) + 1) as rest from storage.objects o
              where o.bucket_id = $1 and starts_with(o.name, $2)),
            entries as (
              select distinct split_part(rest, '/', 1) collate "C" as entry, null::uuid as id, null::text as owner_id,
                null::text as version, null::jsonb as metadata, null::jsonb as user_metadata,
                null::timestamptz as created_at, null::timestamptz as updated_at,
                null::timestamptz as last_accessed_at, $1::text as bucket_id
              from visible where strpos(rest, '/') > 0
              union all
              select rest, id, owner_id, version, metadata, user_metadata, created_at, updated_at, last_accessed_at,
                bucket_id
              from visible where strpos(rest, '/') = 0 and rest <> ''),
            page as (
              select entry as name, entries.* from entries where starts_with(lower(entry), lower($3))
              order by \(order.column == "name" ? "entry" : order.column) \(order.direction) nulls first, entry
              limit $4::bigint offset $5::bigint)
            select coalesce(json_agg(case when id is null then json_build_object('name', name, 'id', null,
              'updated_at', null, 'created_at', null, 'last_accessed_at', null, 'metadata', null)
              else \(Self.listed) end), '[]') from page
            """, [bucket, prefix, search, String(limit), String(offset)], as: token)
    }

    /// A page of complete names.
    ///
    /// - Parameters:
    ///   - isFlat: Whether to list objects in folders individually, instead of the folders.
    ///   - cursor: The entry after which the page starts: its sort value and its name.
    /// - Returns: The entries, at most one more than `limit`: `{"name", "place", "row"}`, without a row for a folder.
    func page(
        _ bucket: String, prefix: String, isFlat: Bool, _ order: Order, limit: Int, after cursor: (String, String)?,
        as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> [JSON] {
        let place =
            order.column == "name" ? "name" : "to_char(\(order.column) at time zone 'utc', 'YYYYMMDDHH24MISSUS')"
        let found = try await rows(
            """
            with visible as (
              select o.*, strpos(substr(o.name, length($2::text) + 1), '/') as slash from storage.objects o
              where o.bucket_id = $1 and starts_with(o.name, $2)),
            entries as (
              select name collate "C" as key, (\(place)) collate "C" as place, \(Self.listed) as row
              from visible where slash = 0 or $3::bool
              union all
              select name collate "C", (\(order.column == "name" ? "name" : "''")) collate "C", null
              from (select distinct substr(name, 1, length($2::text) + slash) as name
                    from visible where slash > 0 and not $3::bool) folders),
            page as (
              select * from entries where $4::text is null
                or (place, key) \(order.isDescending ? "<" : ">") ($4::text, $5::text)
              order by place \(order.direction), key \(order.direction) limit $6::bigint)
            select coalesce(json_agg(json_build_object('name', key, 'place', place, 'row', row)), '[]') from page
            """, [bucket, prefix, isFlat ? "true" : "false", cursor?.0, cursor?.1, String(limit + 1)], as: token)
        return found.array ?? []
    }
}
