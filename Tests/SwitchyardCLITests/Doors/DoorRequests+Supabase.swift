/// What clients ask of a local Supabase: every route, with every number and body that it takes.
extension DoorRequest {
    static let supabase = all(accounts + "\n----\n" + rows + "\n----\n" + objects + "\n----\n" + live)

    /// The tables and functions that the requests are about.
    static let supabaseScript = """
        create table public.door (
          id bigint primary key, small smallint, n numeric, f double precision, b boolean, d date, ts timestamptz, j jsonb, ia int[],
          ta text[], name text, bin bytea);
        insert into public.door (id, name, j) select n, 'n' || n, jsonb_build_object('a', n) from generate_series(1, 20) n;
        create function public.door_add(a int, b bigint default 1) returns bigint language sql stable as 'select a + b';
        create function public.door_rows(lowest int, highest int default 5) returns setof public.door language sql stable
          as 'select * from public.door where id between lowest and highest';
        create function public.door_status(n int) returns int language plpgsql as $$
          begin perform set_config('response.status', n::text, true); return n; end $$;
        alter publication supabase_realtime add table public.door;
        """

    // MARK: Accounts

    private static let accounts = #"""
        POST /auth/v1/signup
        apikey: {anon}

        {"email":"{name}@example.com","password":"secret-1","data":{"n":1}}
        ----
        POST /auth/v1/signup
        apikey: {anon}

        {"data":{}}
        ----
        POST /auth/v1/token?grant_type=password
        apikey: {anon}

        {"email":"{name}@example.com","password":"secret-1"}
        ----
        POST /auth/v1/token?grant_type=refresh_token
        apikey: {anon}

        {"refresh_token":"{refresh}"}
        ----
        POST /auth/v1/token?grant_type=id_token
        apikey: {anon}

        {"provider":"google","id_token":"{\"iss\":\"https://accounts.google.com\",\"sub\":\"1\",\"exp\":4000000000,\"email\":\"g@example.com\",\"email_verified\":true}","nonce":"1"}
        ----
        POST /auth/v1/token?grant_type=pkce
        apikey: {anon}

        {"auth_code":"{code}","code_verifier":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1"}
        ----
        POST /auth/v1/otp
        apikey: {anon}

        {"email":"{name}@example.com","create_user":true,"code_challenge":"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM","code_challenge_method":"s256"}
        ----
        POST /auth/v1/verify
        apikey: {anon}

        {"email":"{name}@example.com","token":"123456","type":"email"}
        ----
        GET /auth/v1/verify?token={tokenHash}&type=magiclink&redirect_to=http%3A%2F%2Flocalhost%3A3000
        ----
        POST /auth/v1/recover
        apikey: {anon}

        {"email":"{name}@example.com"}
        ----
        POST /auth/v1/resend
        apikey: {anon}

        {"email":"{name}@example.com","type":"signup"}
        ----
        GET /auth/v1/user
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        PUT /auth/v1/user
        apikey: {anon}
        Authorization: Bearer {access}

        {"data":{"n":1,"x":null},"phone":"+15555550100","nonce":"123456"}
        ----
        GET /auth/v1/reauthenticate
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        POST /auth/v1/logout?scope=others
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        GET /auth/v1/user/identities/authorize?provider=github&redirect_to=http%3A%2F%2Flocalhost%3A1&skip_http_redirect=true
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        DELETE /auth/v1/user/identities/00000000-0000-4000-8000-000000000001
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        POST /auth/v1/factors
        apikey: {anon}
        Authorization: Bearer {access}

        {"factor_type":"totp","friendly_name":"f1","issuer":"x"}
        ----
        POST /auth/v1/factors/{factor}/challenge
        apikey: {anon}
        Authorization: Bearer {access}

        {}
        ----
        POST /auth/v1/factors/{factor}/verify
        apikey: {anon}
        Authorization: Bearer {access}

        {"challenge_id":"{challenge}","code":"123456"}
        ----
        DELETE /auth/v1/factors/{factor}
        apikey: {anon}
        Authorization: Bearer {access}
        ----
        GET /auth/v1/authorize?provider=github&redirect_to=http%3A%2F%2Flocalhost%3A1&scopes=repo&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=s256
        ----
        GET /_supabase/identity?state={state}&sub=1&email=x%40example.com
        ----
        GET /auth/v1/callback?state={state}&code=1
        ----
        GET /auth/v1/admin/users?page=1&per_page=2&filter=x
        apikey: {service}
        Authorization: Bearer {service}
        ----
        POST /auth/v1/admin/users
        apikey: {service}
        Authorization: Bearer {service}

        {"id":"00000000-0000-4000-8000-000000000002","email":"adm1@example.com","password":"secret-1","email_confirm":true,"user_metadata":{"z":1},"app_metadata":{"n":1},"ban_duration":"1h30m5s","role":"authenticated","phone":"15555550100"}
        ----
        PUT /auth/v1/admin/users/{user}
        apikey: {service}
        Authorization: Bearer {service}

        {"ban_duration":"none","app_metadata":{"n":1},"email":"{name}@example.com","password":"secret-1"}
        ----
        GET /auth/v1/admin/users/{user}
        apikey: {service}
        Authorization: Bearer {service}
        ----
        DELETE /auth/v1/admin/users/00000000-0000-4000-8000-000000000002
        apikey: {service}
        Authorization: Bearer {service}

        {"should_soft_delete":true}
        ----
        POST /auth/v1/admin/generate_link
        apikey: {service}
        Authorization: Bearer {service}

        {"type":"magiclink","email":"{name}@example.com","redirectTo":"http://localhost:1"}
        ----
        POST /auth/v1/invite
        apikey: {service}
        Authorization: Bearer {service}

        {"email":"inv1@example.com","data":{"n":1}}
        ----
        GET /auth/v1/admin/users/{user}/factors
        apikey: {service}
        Authorization: Bearer {service}
        ----
        GET /_supabase/sent?to={name}%40example.com
        apikey: {service}
        ----
        GET /auth/v1/admin/audit?page=1&per_page=2&query=action%3Alogin
        apikey: {service}
        Authorization: Bearer {service}
        ----
        GET /auth/v1/.well-known/openid-configuration
        ----
        GET /auth/v1/passkeys/1
        apikey: {anon}
        Authorization: Bearer {access_token}
        ----
        GET /auth/v1/settings
        ----
        GET /auth/v1/user
        apikey: {anon}
        Authorization: Bearer {forged}
        """#

    // MARK: Rows

    private static let rows = #"""
        GET /rest/v1/door?select=id,name,j->a,j->>a,ia->0,n::text&id=gte.2&id=lt.9&order=id.desc.nullslast&limit=3&offset=1
        apikey: {anon}
        Prefer: count=exact
        ----
        GET /rest/v1/door?select=*&or=(id.eq.1,and(small.gt.2,not.name.like.n*))&id=in.(1,2,3)&ia=cs.{1,2}&name=plfts(english).x&ts=gt.2026-01-01T00:00:00Z
        apikey: {anon}
        Range: 0-4
        Range-Unit: items
        ----
        GET /rest/v1/door?id=eq.1
        apikey: {service}
        Authorization: Bearer {service}
        Accept: application/vnd.pgrst.object+json;nulls=stripped
        ----
        GET /rest/v1/door?limit=5
        apikey: {anon}
        Accept: text/csv
        Prefer: count=planned, handling=strict, max-affected=10, timezone=Europe/Berlin
        ----
        HEAD /rest/v1/door?limit=5
        apikey: {anon}
        Prefer: count=estimated
        ----
        POST /rest/v1/door?columns=id,name,n&on_conflict=id&select=id
        apikey: {service}
        Authorization: Bearer {service}
        Prefer: return=representation, resolution=merge-duplicates, missing=default, tx=rollback

        [{"id":100,"name":"x","n":12345678901234567890.5},{"id":101,"name":null,"n":1}]
        ----
        POST /rest/v1/door
        apikey: {service}
        Authorization: Bearer {service}

        {"id":102,"small":7,"f":1e10,"b":true,"d":"2026-01-01","ts":"2026-01-01T00:00:00Z","j":{"n":1},"ia":[1,2],"ta":["x"],"bin":"\\x00ff"}
        ----
        POST /rest/v1/door
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: text/csv

        id,name
        103,x
        ----
        PATCH /rest/v1/door?id=eq.5&limit=1&order=id
        apikey: {service}
        Authorization: Bearer {service}
        Prefer: return=headers-only, max-affected=1, handling=strict

        {"small":3,"j":{"a":[1,2]}}
        ----
        PUT /rest/v1/door?id=eq.6
        apikey: {service}
        Authorization: Bearer {service}

        {"id":6,"name":"six"}
        ----
        DELETE /rest/v1/door?id=gte.100
        apikey: {service}
        Authorization: Bearer {service}
        Prefer: return=representation
        ----
        POST /rest/v1/rpc/door_add
        apikey: {anon}

        {"a":1,"b":2}
        ----
        POST /rest/v1/rpc/door_add
        apikey: {anon}
        Content-Type: application/x-www-form-urlencoded

        a=1&b=2
        ----
        POST /rest/v1/rpc/door_add?columns=a,b
        apikey: {anon}
        Accept: application/vnd.pgrst.plan+json; for="text/csv"; options=verbose, text/csv;q=0.5

        [{"a":1,"b":2},{"a":3}]
        ----
        OPTIONS /rest/v1/door
        apikey: {anon}
        Origin: http://127.0.0.1:3000
        ----
        GET /rest/v1/rpc/door_add?a=1&b=2
        apikey: {anon}
        ----
        GET /rest/v1/rpc/door_rows?lowest=1&highest=9&select=id&order=id&limit=2&offset=1
        apikey: {anon}
        Range: 0-1
        ----
        POST /rest/v1/rpc/door_status
        apikey: {anon}

        {"n":299}
        ----
        POST /rest/v1/rpc/switchyard_commit
        apikey: {service}
        Authorization: Bearer {service}

        {"writes":[{"path":"c/a","set":{"n":1,"v":{"$vec":[1,2]},"t":{"$time":"2026-01-01T00:00:00Z"},"big":{"$num":"1"}}}]}
        ----
        POST /rest/v1/rpc/switchyard_query
        apikey: {service}
        Authorization: Bearer {service}

        {"query":{"from":"c","where":["all",[[">",["n"],0]]],"order":[[["n"],"asc"]],"limit":3,"offset":0}}
        ----
        POST /rest/v1/rpc/switchyard_get
        apikey: {anon}
        Authorization: Bearer {access}

        {"paths":["c/a","c/b1"]}
        ----
        OPTIONS /rest/v1/door
        ----
        POST /functions/v1/nope/1?x=1
        Authorization: Bearer {access}

        {"a":1}
        ----
        GET /rest/v1/door?limit=1
        apikey: {anon}
        Authorization: Bearer {forged}
        """#

    // MARK: Files

    private static let objects = #"""
        POST /storage/v1/bucket
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"id":"b1","name":"b1","public":true,"file_size_limit":"20MB","allowed_mime_types":["text/*"]}
        ----
        PUT /storage/v1/bucket/b1
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"public":true,"file_size_limit":5000000}
        ----
        GET /storage/v1/bucket?limit=2&offset=0&sortColumn=name&sortOrder=asc&search=b
        apikey: {service}
        Authorization: Bearer {service}
        ----
        POST /storage/v1/bucket/b1/empty
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {}
        ----
        POST /storage/v1/object/files/a/f.txt
        apikey: {anon}
        Authorization: Bearer {access}
        Content-Type: text/plain
        x-upsert: true
        cache-control: max-age=3600
        x-metadata: eyJuIjoxfQ==

        0123456789
        ----
        PUT /storage/v1/object/files/a/f.txt
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: multipart/form-data; boundary=bnd

        --bnd
        Content-Disposition: form-data; name="cacheControl"

        3600
        --bnd
        Content-Disposition: form-data; name="metadata"

        {"n":1}
        --bnd
        Content-Disposition: form-data; name=""; filename="f.txt"
        Content-Type: text/plain

        hello 1
        --bnd--
        ----
        GET /storage/v1/object/authenticated/files/a/f.txt
        apikey: {service}
        Authorization: Bearer {service}
        Range: bytes=1-3
        If-Range: "1"
        ----
        GET /storage/v1/object/files/a/f.txt?download=n1.txt
        apikey: {service}
        If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT
        ----
        GET /storage/v1/object/public/b1/x
        ----
        GET /storage/v1/object/info/authenticated/files/a/f.txt
        apikey: {service}
        Authorization: Bearer {service}
        ----
        POST /storage/v1/object/sign/files/a/f.txt
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"expiresIn":60}
        ----
        POST /storage/v1/object/sign/files
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"expiresIn":60,"paths":["a/f.txt","x1"]}
        ----
        GET /storage/v1{signedURL}
        Range: bytes=0-1
        ----
        POST /storage/v1/object/upload/sign/files/u1
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {}
        ----
        PUT /storage/v1{url}
        Content-Type: text/plain

        signed 1
        ----
        POST /storage/v1/object/list/files
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"prefix":"a","limit":100,"offset":0,"sortBy":{"column":"name","order":"asc"},"search":"f"}
        ----
        POST /storage/v1/object/list-v2/files
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"prefix":"","limit":2,"with_delimiter":true,"cursor":"{nextCursor}","sortBy":{"column":"created_at","order":"desc"}}
        ----
        POST /storage/v1/object/move
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"bucketId":"files","sourceKey":"u1","destinationKey":"m1","destinationBucket":"files"}
        ----
        POST /storage/v1/object/copy
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"bucketId":"files","sourceKey":"a/f.txt","destinationKey":"c1","copyMetadata":true}
        ----
        DELETE /storage/v1/object/files
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"prefixes":["m1","c1"]}
        ----
        DELETE /storage/v1/object/files/m1
        apikey: {service}
        Authorization: Bearer {service}
        ----
        POST /storage/v1/upload/resumable
        apikey: {service}
        Authorization: Bearer {service}
        Tus-Resumable: 1.0.0
        Upload-Length: 10
        Upload-Metadata: bucketName ZmlsZXM=,objectName dDE=,contentType dGV4dC9wbGFpbg==,cacheControl MzYwMA==,metadata eyJuIjoxfQ==
        x-upsert: true
        ----
        PATCH {tus}
        apikey: {service}
        Authorization: Bearer {service}
        Tus-Resumable: 1.0.0
        Upload-Offset: 0
        Content-Type: application/offset+octet-stream

        0123456789
        ----
        HEAD {tus}
        Authorization: Bearer {service}
        Tus-Resumable: 1.0.0
        ----
        DELETE {tus}
        Authorization: Bearer {service}
        Tus-Resumable: 1.0.0
        ----
        POST /storage/v1/upload/resumable
        apikey: {service}
        Authorization: Bearer {service}
        Tus-Resumable: 1.0.0
        Upload-Defer-Length: 1
        Upload-Metadata: bucketName ZmlsZXM=,objectName dDI=
        ----
        GET /storage/v1/health
        ----
        DELETE /storage/v1/cdn/files/a/f.txt
        apikey: {service}
        Authorization: Bearer {service}
        ----
        POST /storage/v1/object/files/a/../../x1
        apikey: {service}
        Authorization: Bearer {service}
        ----
        GET /storage/v1/render/image/public/b1/x?width=10&height=20&quality=80
        """#

    // MARK: Live

    private static let live = #"""
        GET /realtime/v1/longpoll?vsn=1.0.0&apikey={anon}
        ----
        POST /realtime/v1/longpoll?vsn=1.0.0&token={poll}
        Content-Type: application/x-ndjson

        {"topic":"realtime:r1","event":"phx_join","payload":{"config":{"broadcast":{"ack":true,"self":true,"replay":{"since":1700000000000,"limit":10}},"presence":{"key":"k1","enabled":true},"postgres_changes":[{"event":"*","schema":"public","table":"door","filter":"id=gt.1"}],"private":false}},"ref":"1","join_ref":"1"}
        {"topic":"phoenix","event":"heartbeat","payload":{},"ref":"2"}
        ----
        GET /realtime/v1/longpoll?vsn=1.0.0&token={poll}
        ----
        POST /realtime/v1/api/broadcast
        apikey: {service}
        Authorization: Bearer {service}

        {"messages":[{"topic":"r1","event":"e","payload":{"n":1},"private":false}]}
        ----
        POST /realtime/v1/api/broadcast/r1/events/e1?private=true
        apikey: {service}
        Authorization: Bearer {service}
        Content-Type: application/json

        {"n":1}
        ----
        POST /_supabase/faults

        {"dropEvents":1,"doubleEvents":1,"reorderEvents":1,"delayEvents":1,"delay":5,"fallSilent":1000000,"refusalPause":1}
        ----
        POST /_supabase/faults

        {"cutSockets":true,"refuseWebSockets":false,"expireTokens":false}
        ----
        POST /_faults

        {"fault":"pace","bytes":100,"milliseconds":1,"path":"/never","times":2,"after":1}
        ----
        GET /_faults
        ----
        POST /_faults/disconnect?reset=false
        """#
}
