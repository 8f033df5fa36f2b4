import SwitchyardBytes
import SwitchyardWire
import Testing

@testable import SwitchyardLocalSupabase

/// Lists of things to do, with the people, labels and details that they refer to.
enum RelatedTables {
    static let sql = """
        create table if not exists public.users (id int primary key, name text);
        create table if not exists public.lists (id int primary key, name text, owner int references public.users);
        create table if not exists public.todos (
          id int primary key, title text, list int references public.lists, parent int references public.todos,
          made_by int references public.users, done_by int references public.users);
        create table if not exists public.labels (id int primary key, text text);
        create table if not exists public.todo_labels (
          todo int references public.todos, label int references public.labels, primary key (todo, label));
        create table if not exists public.details (todo int primary key references public.todos, note text, data jsonb);
        create or replace view public.open_todos as select id as nr, title, list as list_nr from public.todos where done_by is null;
        create or replace view public.open_again as select nr, list_nr as "list (nr)" from public.open_todos;
        create or replace function public.first_todo(public.lists) returns setof public.todos rows 1 language sql stable
          as 'select * from public.todos where list = $1.id order by id limit 1';
        create or replace function public.shorter(public.lists, int) returns text language sql stable as 'select left($1.name, $2)';
        create or replace function public.shout(public.lists) returns text language sql stable as 'select upper($1.name)';
        create or replace function public.todos_of(nr int) returns setof public.todos language sql stable
          as 'select * from public.todos where list = nr';
        create or replace function public.one_todo(nr int) returns public.todos language sql stable
          as 'select * from public.todos where id = nr';
        truncate public.users cascade; truncate public.labels cascade;
        insert into public.users values (1, 'Ann'), (2, 'Bob');
        insert into public.lists values (1, 'Home', 1), (2, 'Work', 2), (3, 'Empty', null);
        insert into public.todos values (1, 'cook', 1, null, 1, 2), (2, 'eat', 1, 1, 1, null), (3, 'write', 2, null, 2, null),
          (4, 'think', null, 3, null, null);
        insert into public.labels values (1, 'red'), (2, 'blue');
        insert into public.todo_labels values (1, 1), (1, 2), (3, 1);
        insert into public.details values (1, 'hot', '{"k": 1}'), (3, null, '{"k": 2}');
        """

    static func with(_ body: (SupabaseBed) async throws -> Void) async throws {
        try await SupabaseBed.with({ $0.scripts = [sql] }, body)
    }

    static func get(_ bed: SupabaseBed, _ query: String) async throws -> JSON {
        let answer = try await bed.send(.get, "/rest/v1/" + query)
        #expect(answer.status < 300, "\(query): \(answer.json.text())")
        return answer.json
    }
}
