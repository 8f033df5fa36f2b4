/// What the routes of the file service take.
extension RequestSchema {
    static let newBucket = RequestSchema(
        [
            "name": .string, "id": .string, "public": .boolean, "type": .word(["STANDARD", "ANALYTICS"]),
            "file_size_limit": .size, "allowed_mime_types": .nullable(.strings),
        ], required: ["name"])

    static let bucketChanges = RequestSchema(
        ["public": .boolean, "file_size_limit": .size, "allowed_mime_types": .nullable(.strings)],
        oneOf: ["public", "file_size_limit", "allowed_mime_types"])

    static let bucketList = RequestSchema([
        "limit": .positive, "offset": .count, "sortColumn": .word(["id", "name", "created_at", "updated_at"]),
        "sortOrder": .word(["asc", "desc"]), "search": .string,
    ])

    static let list = RequestSchema(
        [
            "prefix": .string, "limit": .positive, "offset": .count,
            "sortBy": order(["name", "updated_at", "created_at", "last_accessed_at"]), "search": .string,
        ], required: ["prefix"])

    static let listPage = RequestSchema([
        "prefix": .string, "limit": .positive, "cursor": .string, "with_delimiter": .boolean,
        "sortBy": order(["name", "updated_at", "created_at"]),
    ])

    private static func order(_ columns: [String]) -> Kind {
        .object(
            RequestSchema(["column": .word(columns), "order": .word(["asc", "desc"])], required: ["column"]))
    }

    static let move = RequestSchema(
        ["bucketId": .string, "sourceKey": .string, "destinationBucket": .string, "destinationKey": .string],
        required: ["bucketId", "sourceKey", "destinationKey"])

    static let copy = RequestSchema(
        [
            "bucketId": .string, "sourceKey": .string, "destinationBucket": .string, "destinationKey": .string,
            "metadata": .object(RequestSchema(["cacheControl": .string, "mimetype": .string])),
            "copyMetadata": .boolean,
        ], required: ["sourceKey", "bucketId", "destinationKey"])

    static let removal = RequestSchema(
        ["prefixes": .list(of: .string, count: 1...Int.max)], required: ["prefixes"])

    static let signing = RequestSchema(
        ["expiresIn": .positive, "transform": transformation], required: ["expiresIn"])

    static let signings = RequestSchema(
        ["expiresIn": .positive, "paths": .list(of: .string, count: 1...1000)], required: ["expiresIn", "paths"])

    /// Images are not changed here, but what is asked is checked.
    private static let transformation = Kind.object(
        RequestSchema([
            "height": .count, "width": .count, "resize": .word(["cover", "contain", "fill"]),
            "format": .word(["origin", "avif", "webp"]), "quality": .integer(20...100),
        ]))
}
