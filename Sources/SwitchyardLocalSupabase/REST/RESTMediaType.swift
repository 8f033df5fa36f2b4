import SwitchyardBytes

/// A media type as requests name it: its two parts in small letters, and its parameters.
struct RESTMediaType: Hashable, Sendable {
    /// Such as "text/csv".
    let name: String
    private let parameters: [String: String]
    /// As it was written.
    let text: String

    init(_ text: String) {
        self.text = text.trimmed
        let parts = RESTMediaType.split(self.text, at: ";")
        name = (parts.first ?? "").trimmed.lowercased()
        var parameters: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            parameters[pair[0].trimmed.lowercased()] = String(pair[1].trimmed.filter { $0 != "\"" })
        }
        self.parameters = parameters
    }

    /// The types of an `Accept` header, the most wanted one first.
    static func accepted(_ header: String?) -> [RESTMediaType] {
        guard let header else { return [RESTMediaType("*/*")] }
        let types = split(header, at: ",").map { RESTMediaType($0) }
        let ranked = types.enumerated().sorted { one, other in
            (other.element.quality, one.offset) < (one.element.quality, other.offset)
        }
        return ranked.map(\.element)
    }

    /// Splits outside of quotation marks.
    private static func split(_ text: String, at mark: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        for letter in text {
            if letter == "\"" { isQuoted.toggle() }
            if letter == mark, !isQuoted { parts.append("") } else { parts[parts.count - 1].append(letter) }
        }
        return parts
    }

    private var quality: Double { parameters["q"].flatMap { Double($0) } ?? 1 }

    var stripsNulls: Bool { parameters["nulls"] == "stripped" }

    // MARK: Plans

    /// How to describe the plan of a request in place of its result; `nil` for other types.
    var plan: RESTPlan? {
        let isJSON: Bool
        switch name {
        case "application/vnd.pgrst.plan", "application/vnd.pgrst.plan+text": isJSON = false
        case "application/vnd.pgrst.plan+json": isJSON = true
        default: return nil
        }
        let words = (parameters["options"] ?? "").split(separator: "|").map { $0.lowercased() }
        return RESTPlan(
            isJSON: isJSON, options: RESTPlan.known.filter(words.contains),
            type: RESTMediaType(parameters["for"] ?? "application/json"))
    }
}

/// A request for the database's plan.
struct RESTPlan: Hashable, Sendable {
    static let known = ["analyze", "verbose", "settings", "buffers", "wal"]

    let isJSON: Bool
    let options: [String]
    /// The type of the result whose making is described.
    let type: RESTMediaType

    /// The statement that describes another one.
    var prefix: String {
        "explain (\(([isJSON ? "format json" : "format text"] + options).joined(separator: ", "))) "
    }

    var contentType: String {
        "application/vnd.pgrst.plan+\(isJSON ? "json" : "text"); for=\"\(type.name)\""
            + (options.isEmpty ? "" : "; options=\(options.joined(separator: "|"))") + "; charset=utf-8"
    }
}

/// A function that makes a document of a media type: a domain whose name is the type is what it returns.
struct RESTMediaHandler: Sendable {
    let type: String
    /// The function's quoted name; for functions that return a document themselves the domain's.
    let function: String
    /// Whether it takes rows of any kind.
    let takesEverything: Bool
    /// Whether the document is binary.
    let isBinary: Bool

    init?(_ json: JSON) {
        guard let type = json[0]?.string, let schema = json[1]?.string, let name = json[2]?.string else { return nil }
        self.type = type
        function = RESTStatement.quoted(schema) + "." + RESTStatement.quoted(name)
        takesEverything = json[3]?.bool ?? false
        isBinary = json[4]?.string == "bytea"
    }

    /// The aggregates over rows of a type, an expression, and over rows of any kind.
    static func query(of type: String) -> String {
        """
        (select json_agg(json_build_array(lower(md.typname), ps.nspname, pr.proname, ra.typname = 'anyelement', mb.typname))
         from (select oid, typname, typbasetype from pg_catalog.pg_type
               where typtype = 'd' and strpos(typname, '/') > 0 offset 0) md
         join pg_catalog.pg_proc pr on pr.prorettype = md.oid and pr.prokind = 'a' and pr.pronargs = 1
         join pg_catalog.pg_type mb on mb.oid = md.typbasetype join pg_catalog.pg_namespace ps on ps.oid = pr.pronamespace
         join pg_catalog.pg_type ra on ra.oid = pr.proargtypes[0]
         where ra.typname = 'anyelement' or ra.oid = \(type))
        """
    }

    /// The type of the answer; those that say nothing about it are just bytes.
    var contentType: String {
        switch type {
        case "*/*": "application/octet-stream"
        case "text/plain", "text/xml", "text/csv", "application/json", "application/geo+json",
            "application/x-www-form-urlencoded", "application/openapi+json":
            type + "; charset=utf-8"
        default: type
        }
    }
}

/// The form of a result.
indirect enum RESTForm: Sendable {
    case many(stripsNulls: Bool)
    case one(stripsNulls: Bool)
    case table
    case handled(RESTMediaHandler)
    case plan(RESTPlan, of: RESTForm)

    /// Whether exactly one row is demanded.
    var isOne: Bool {
        switch self {
        case .one: true
        case .plan(_, of: let form): form.isOne
        default: false
        }
    }

    var contentType: String {
        switch self {
        case .many(stripsNulls: false): "application/json; charset=utf-8"
        case .many(stripsNulls: true): "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"
        case .one(stripsNulls: false): "application/vnd.pgrst.object+json; charset=utf-8"
        case .one(stripsNulls: true): "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"
        case .table: "text/csv; charset=utf-8"
        case .handled(let handler): handler.contentType
        case .plan(let plan, of: _): plan.contentType
        }
    }

    /// The first accepted form that there is.
    ///
    /// - Parameters:
    ///   - handlers: Those for the rows; only those for rows of any kind count where columns were selected.
    ///   - allowsPlans: Whether the project shows plans.
    init(
        _ accepted: [RESTMediaType], handlers: [RESTMediaHandler], isEverything: Bool, allowsPlans: Bool
    ) throws(RESTFailure) {
        let usable = handlers.filter { isEverything || $0.takesEverything }
        for type in accepted {
            if let plan = type.plan {
                if allowsPlans, let form = RESTForm(plan.type, usable) {
                    self = .plan(plan, of: form)
                    return
                }
            } else if let form = RESTForm(type, usable) {
                self = form
                return
            }
        }
        let list = accepted.map(\.text).joined(separator: ", ")
        throw RESTFailure(406, "PGRST107", "None of these media types are available: \(list)")
    }

    private init?(_ type: RESTMediaType, _ handlers: [RESTMediaHandler]) {
        switch type.name {
        case "application/vnd.pgrst.object+json", "application/vnd.pgrst.object":
            self = .one(stripsNulls: type.stripsNulls)
            return
        case "application/vnd.pgrst.array+json", "application/vnd.pgrst.array":
            if type.stripsNulls {
                self = .many(stripsNulls: true)
                return
            }
        default: break
        }
        let isVendorArray = type.name.hasPrefix("application/vnd.pgrst.array")
        let name = isVendorArray ? "application/json" : type.name
        // A handler for every type comes first, then the one for the rows themselves.
        let found =
            handlers.first { $0.type == "*/*" && !$0.takesEverything }
            ?? handlers.first { $0.type == name && !$0.takesEverything } ?? handlers.first { $0.type == name }
        if let found {
            self = .handled(found)
            return
        }
        switch name {
        case "*/*", "application/json": self = .many(stripsNulls: false)
        case "text/csv": self = .table
        default: return nil
        }
    }
}
