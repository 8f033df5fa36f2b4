import SwitchyardBytes

/// How the values of a domain look outside of the database: the functions of its implicit casts, if there are any.
struct RESTRepresentation: Hashable, Sendable {
    /// Makes JSON of a value.
    let toJSON: String?
    /// Makes a value of the JSON in a body.
    let fromJSON: String?
    /// Makes a value of the text in a condition.
    let fromText: String?

    /// An expression for the functions of the type `t` of a column `a`.
    static let query = """
        (select json_object_agg(case when k.castsource = t.oid then 'toJSON' when k.castsource = 'json'::regtype then 'fromJSON'
                                     else 'fromText' end, quote_ident(kn.nspname) || '.' || quote_ident(kp.proname))
         from pg_cast k join pg_proc kp on kp.oid = k.castfunc join pg_namespace kn on kn.oid = kp.pronamespace
         where t.typtype = 'd' and k.castcontext = 'i' and k.castmethod = 'f'
           and ((k.castsource = t.oid and k.casttarget = 'json'::regtype)
             or (k.casttarget = t.oid and k.castsource in ('json'::regtype, 'text'::regtype))))
        """

    init(_ json: JSON) {
        toJSON = json["toJSON"]?.string
        fromJSON = json["fromJSON"]?.string
        fromText = json["fromText"]?.string
    }

    var isPlain: Bool { toJSON == nil && fromJSON == nil && fromText == nil }
}
