import SwitchyardServerKit
import Testing

@testable import SwitchyardLocalSupabase

/// How the data service reads queries; the pitfalls are those of the vendor's own service.
struct RESTParsingTests {
    private func sql(_ name: String, _ value: String) throws -> (sql: String, parameters: [String?]) {
        var statement = RESTStatement(alias: "t")
        let sql = try statement.conditions([RESTFilter(name: name, value: value)])
        return (sql, statement.parameters)
    }

    @Test(arguments: [
        ("age", "gte.18", #""t"."age" >= $1"#, ["18"]),
        ("name", #"eq."x""#, #""t"."name" = $1"#, [#""x""#]),
        ("name", "eq.", #""t"."name" = $1"#, [""]),
        ("name", "not.like.A*%", #"not ("t"."name" like $1)"#, ["A%%"]),
        ("name", "like(any).{A*,B*}", #""t"."name" like any($1::text[])"#, ["{A%,B%}"]),
        ("name", "isdistinct.null", #""t"."name" is distinct from $1"#, ["null"]),
        ("gone", "is.NULL", #""t"."gone" is null"#, []),
        ("gone", "is.not_null", #""t"."gone" is not null"#, []),
        // The vendor's service does not look at what follows.
        ("gone", "is.null or true", #""t"."gone" is null"#, []), ("id", "in.(1)x", #""t"."id" = any($1)"#, [#"{"1"}"#]),
        ("id", "in.(1,2)", #""t"."id" = any($1)"#, [#"{"1","2"}"#]),
        ("id", #"in.("a,\"b","c)")"#, #""t"."id" = any($1)"#, [#"{"a,\"b","c)"}"#]),
        ("id", "in.()", #""t"."id" = any($1)"#, ["{}"]),
        ("id", #"in.("")"#, #""t"."id" = any($1)"#, ["{}"]),
        ("tags", "cs.{a,b}", #""t"."tags" @> $1"#, ["{a,b}"]),
        (
            "text", "wfts(english).dog -cat",
            #"to_tsvector($1::regconfig, "t"."text") @@ websearch_to_tsquery($2::regconfig, $3)"#,
            ["english", "english", "dog -cat"]
        ),
        ("data->a->>0", "eq.x", #"("t"."data"->$1::text->>(0)) = $2"#, ["a", "x"]),
        (#"data->"a.b"->>"0""#, "eq.x", #"("t"."data"->$1::text->>$2::text) = $3"#, ["a.b", "0", "x"]),
        (#""a.b""#, "eq.1", #""t"."a.b" = $1"#, ["1"]),
        (#"we"ird"#, "eq.1", #""t"."we""ird" = $1"#, ["1"]),
        ("or", "(age.lt.18,age.gt.21)", #"("t"."age" < $1 or "t"."age" > $2)"#, ["18", "21"]),
        (
            "and", #"(a.gte.1,or(b.eq."x,y\"",c.is.null))"#,
            #"("t"."a" >= $1 and ("t"."b" = $2 or "t"."c" is null))"#, ["1", #"x,y""#]
        ),
        ("not.or", "(a.not.eq.1,tags.cs.{x})", #"not ((not ("t"."a" = $1) or "t"."tags" @> $2))"#, ["1", "{x}"]),
        ("or", #"(a.in.("x,y",z),b.eq."q"r)"#, #"("t"."a" = any($1) or "t"."b" = $2)"#, [#"{"x,y","z"}"#, #""q"r"#]),
    ])
    func `A condition becomes names in quotes and parameters`(
        name: String, value: String, expected: String, parameters: [String]
    ) throws {
        let (sql, bound) = try sql(name, value)
        #expect(sql == expected)
        #expect(bound == parameters)
    }

    @Test(arguments: [
        ("age", "18"), ("age", "bigger.18"), ("age", "is.maybe"), ("age", "neq(any).{1}"),
        ("or", "()"), ("or", "(a.eq.1"), ("or", "(a.eq.1) or (1=1)"), ("or", "a.eq.1"), ("id", "in.1,2"),
        ("id", "in.(1"), ("", "eq.1"), (#""open"#, "eq.1"), ("other.name", "eq.1"),
    ])
    func `What cannot be read is refused`(name: String, value: String) {
        let failure = #expect(throws: RESTFailure.self) { _ = try RESTFilter(name: name, value: value) }
        #expect(failure?.status == 400)
    }

    @Test func `What is asked for has names, casts and paths`() throws {
        var statement = RESTStatement(alias: "t")
        let selection = try RESTSelection(
            parsing: #"id,full:name,price::text,age::double precision,city:data->address->>city,data->>0,*"#)
        #expect(
            try statement.items(selection) == """
                "t"."id" as "id", "t"."name" as "full", cast("t"."price" as text) as "price", \
                cast("t"."age" as double precision) as "age", ("t"."data"->$1::text->>$2::text) as "city", ("t"."data"->>(0)) as "data", "t".*
                """)
        #expect(statement.parameters == ["address", "city"])
    }

    @Test func `An order says where nulls are`() throws {
        var statement = RESTStatement(alias: "t")
        let order = try RESTOrder.parse(" age.desc.nullslast, name ,data->>k.asc.nullsfirst")
        #expect(
            try statement.order(order)
                == #" order by "t"."age" desc nulls last, "t"."name" asc, ("t"."data"->>$1::text) asc nulls first"#)
        for text in ["age.desc;drop table t", "age.desc.asc", "age.nullsfirst.desc", ""] {
            #expect(throws: RESTFailure.self, "\(text)") { try RESTOrder.parse(text) }
        }
    }

    @Test func `A column that the table has not is named in the refusal`() throws {
        var statement = RESTStatement(alias: "todos", columns: ["id": "int4"])
        let failure = #expect(throws: RESTFailure.self) {
            _ = try statement.conditions([RESTFilter(name: "row_to_json", value: "eq.1")])
        }
        #expect(failure?.code == "42703")
        #expect(failure?.message == "column todos.row_to_json does not exist")
    }
}
