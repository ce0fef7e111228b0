-- Tells every gateway that listens which group was written to, at the moment of the commit.
CREATE FUNCTION announce_write() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN PERFORM pg_notify('model_gateway', NEW.key); RETURN NULL; END$$;

CREATE TRIGGER announce_write AFTER INSERT OR UPDATE ON meta
FOR EACH ROW WHEN (NEW.key >= 'version.' AND NEW.key < 'version/') EXECUTE FUNCTION announce_write();
