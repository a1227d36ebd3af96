"""TensorFlow in a process of its own: it writes and reads checkpoints for tests that have it.

    python tensorflow_process.py write FOLDER     # for each NAME.npz a checkpoint in NAME/
    python tensorflow_process.py read FOLDER      # for each checkpoint NAME/google/ a NAME.npz
    python tensorflow_process.py record FOLDER    # the stored files beside this one, made anew

In an ``.npz`` the slashes of names are bars. ``record`` needs the tests on the path.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow

v1 = tensorflow.compat.v1


def write(tensors, prefix, *, files=1, version=v1.train.SaverDef.V2):
    """Write variables of these names, and what a training run has besides."""
    prefix.parent.mkdir(exist_ok=True)
    v1.reset_default_graph()
    variables = []
    for number, (name, tensor) in enumerate(sorted(tensors.items())):
        with v1.device(f"/cpu:{number % files}"):
            variables.append(v1.Variable(tensor, name=name, use_resource=False))
    variables.append(v1.Variable(np.int64(7), name="global_step", use_resource=False))
    with v1.Session(config=v1.ConfigProto(device_count={"CPU": files})) as session:
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(variables, sharded=files > 1, write_version=version)
        saver.save(session, str(prefix), write_meta_graph=False)


def read(prefix):
    """Return a checkpoint's variables, restored as training would."""
    v1.reset_default_graph()
    shapes = v1.train.NewCheckpointReader(str(prefix)).get_variable_to_shape_map()
    variables = {
        name: v1.get_variable(name, shape, v1.float32, use_resource=False)
        for name, shape in shapes.items()
    }
    with v1.Session() as session:
        v1.train.Saver(variables).restore(session, str(prefix))
        return session.run(variables)


def record(folder):
    """Write small checkpoints of both kinds, with their outputs, and two with odd contents."""
    from tests.helpers import numpy_albert

    layouts = {
        "google": numpy_albert.Layout(groups=2),
        "brightmart": numpy_albert.Layout(code="brightmart", shared="attention", pre_norm=True),
    }
    for name, layout in layouts.items():
        tensors = numpy_albert.random_tensors(layout)
        bias = "cls/predictions/output_bias"
        slots = {f"{bias}/adam_{slot}": np.ones(3, np.float32) for slot in "mv"}
        write(tensors | slots, folder / name / "model.ckpt-best")
        expected = numpy_albert.outputs(layout, tensors)._asdict()
        rounded = {part: np.round(values, 6).tolist() for part, values in expected.items()}
        for file, content in (("albert_config", layout.config()), ("expected", rounded)):
            path = folder / name / f"{file}.json"
            path.write_text(json.dumps(content) + "\n", encoding="utf-8")
        vocabulary = "".join(f"{word}\n" for word in numpy_albert.WORDS)
        (folder / name / "vocab_chinese.txt").write_text(vocabulary, encoding="utf-8")
    numbers = np.arange(6).reshape(2, 3)
    dtypes = {name: numbers.astype(name) for name in ("float16", "float32", "float64")}
    dtypes["bfloat16"] = numbers.astype(tensorflow.bfloat16.as_numpy_dtype)
    write(dtypes | {"a": np.array("of no use")}, folder / "dtypes" / "model.ckpt")
    write({name: numbers.astype(np.float32) + len(name) for name in ("a", "bb")},
          folder / "several_files" / "model.ckpt", files=2)  # fmt: skip
    write({"a": numbers.astype(np.float32)}, folder / "version_1" / "model.ckpt",
          version=v1.train.SaverDef.V1)  # fmt: skip


def main():
    """Do what the command line says."""
    v1.disable_eager_execution()
    task, folder = sys.argv[1], Path(sys.argv[2])
    if task == "record":
        record(folder)
    if task == "write":
        for path in folder.glob("*.npz"):
            tensors = {name.replace("|", "/"): tensor for name, tensor in np.load(path).items()}
            write(tensors, path.with_suffix("") / "model.ckpt-1000")
    if task == "read":
        for path in folder.glob("*/google"):
            tensors = read(path / "model.ckpt")
            named = {name.replace("/", "|"): tensor for name, tensor in tensors.items()}
            np.savez(path.parent.with_suffix(".npz"), **named)


if __name__ == "__main__":
    main()
